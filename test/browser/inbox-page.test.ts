import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accessibilityFaults } from "./accessibility.ts";
import { describeBrowser, openPage, phone } from "./browser.ts";
import { ann, picture, type ReviewStage, slowMs, startReviewStage, viewOf } from "./review-stage.ts";

describeBrowser("the list of approvals", (launch) => {
  let browser: Browser;
  let stage: ReviewStage;
  beforeAll(async () => {
    [browser, stage] = await Promise.all([launch(), startReviewStage()]);
  }, slowMs);
  afterAll(async () => {
    await browser?.close();
    await stage?.stop();
  });

  test(
    "says that nothing waits, then leads to what does, which is decided there in one's own name",
    async () => {
      const page = await openPage(browser);
      await page.goto(`${stage.url}/approvals`);
      await page.getByText("Nothing waits for a person.").waitFor();
      await page.screenshot({ path: picture("inbox-empty"), fullPage: true });
      expect(await accessibilityFaults(page)).toEqual([]);

      const asked = await stage.ask("LISTED", viewOf([], { title: "Refund for order ORD-7", risk: "high" }));
      await stage.ask("OTHER", viewOf([], { title: "Tell 1,200 customers about the delay", risk: "medium" }));
      await page.reload();
      await page.getByText("2 approvals waiting").waitFor();
      await page.screenshot({ path: picture("inbox"), fullPage: true });
      expect(await accessibilityFaults(page)).toEqual([]);

      await page.getByRole("link", { name: "Refund for order ORD-7" }).click();
      expect(page.url()).toBe(asked.page);
      await page.screenshot({ path: picture("approval"), fullPage: true });
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.getByRole("button", { name: "Approve" }).click();
      // The browser itself asks for the name that is missing.
      const missing = await page
        .getByLabel("Your name")
        .evaluate((field) => (field as unknown as { validity: { valueMissing: boolean } }).validity.valueMissing);
      expect(missing).toBe(true);
      await page.getByLabel("Your name").fill(ann);
      await page.getByRole("button", { name: "Approve" }).click();
      await page.getByRole("status").getByText("Your decision counts.").waitFor();
      expect((await stage.ended(asked.runId)).status).toBe("SUCCEEDED");

      await page.getByRole("link", { name: "All approvals" }).click();
      await page.getByText("1 approval waiting").waitFor();
    },
    slowMs,
  );

  test(
    "is a list on a phone, and still a table to a screen reader",
    async () => {
      const page = await openPage(browser, phone);
      await page.goto(`${stage.url}/approvals`);
      await page.screenshot({ path: picture("inbox-phone"), fullPage: true });
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await page.getByRole("columnheader").allInnerTexts()).toEqual([
        "What is asked",
        "Risk",
        "Asked",
        "Valid until",
      ]);
      expect(await page.getByRole("rowheader").count()).toBe(1);
    },
    slowMs,
  );
});
