import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accessibilityFaults, focusOf } from "./accessibility.ts";
import { describeBrowser, openPage, phone } from "./browser.ts";
import { ann, bob, picture, type ReviewStage, slowMs, startReviewStage } from "./review-stage.ts";
import { everyField } from "./showcase.ts";

describeBrowser("an approval by its signed link", (launch) => {
  let browser: Browser;
  let stage: ReviewStage;
  let page: Page;
  beforeAll(async () => {
    [browser, stage] = await Promise.all([launch(), startReviewStage()]);
    page = await openPage(browser);
  }, slowMs);
  afterAll(async () => {
    await browser?.close();
    await stage?.stop();
  });
  const heading = async (of = page) => (await of.getByRole("heading", { level: 1 }).textContent())?.trim();

  test(
    "is read and approved, and the run goes on and sends once",
    async () => {
      const asked = await stage.ask("APPROVED", everyField);
      const { status } = await visit(asked.linkOf(ann));
      expect(status).toBe(200);
      expect(await heading()).toBe("Refund for order ORD-1");
      await page.getByText("EUR 50.00").waitFor();
      await page.screenshot({ path: picture("review"), fullPage: true });
      expect(await accessibilityFaults(page)).toEqual([]);

      await page.getByRole("button", { name: "Approve" }).click();
      await page.getByRole("status").getByText("Your decision counts.").waitFor();
      await page.screenshot({ path: picture("approved"), fullPage: true });
      expect(await accessibilityFaults(page)).toEqual([]);
      expect((await stage.ended(asked.runId)).status).toBe("SUCCEEDED");
      expect(stage.effects().filter((line) => line.startsWith("APPROVED "))).toEqual(["APPROVED 5000"]);
    },
    slowMs,
  );

  test(
    "is rejected with a comment, nothing is sent, and reloading the answer changes nothing",
    async () => {
      const asked = await stage.ask("REJECTED");
      await visit(asked.linkOf(ann));
      await page.getByLabel("Comment (optional)").fill("Only half of it.\nThe kettle still boils.");
      await page.getByRole("button", { name: "Reject" }).click();
      await page.getByRole("status").getByText("Rejected.").waitFor();
      await page.reload();
      await page.getByRole("status").getByText("Your decision counts.").waitFor();

      const run = await stage.ended(asked.runId);
      expect(run).toMatchObject({ status: "SUCCEEDED", outcome: "rejected" });
      expect(run.steps.find(({ node }) => node === "review")?.output).toMatchObject({
        by: ann,
        known_by: "link",
        comment: "Only half of it.\nThe kettle still boils.",
      });
      expect(stage.effects().filter((line) => line.startsWith("REJECTED "))).toEqual([]);
    },
    slowMs,
  );

  test(
    "is decided by the keyboard alone, and it shows where the focus is",
    async () => {
      const asked = await stage.ask("KEYBOARD");
      await visit(asked.linkOf(ann));
      const visited: string[] = [];
      for (let presses = 0; presses < 20 && visited.at(-1) !== "Approve"; presses++) {
        await page.keyboard.press("Tab");
        const { what, ring } = await focusOf(page);
        expect(ring).toBe("solid 3px");
        visited.push(what);
      }
      expect(visited).toEqual(["Skip to the content", "comment", "Approve"]);

      await page.keyboard.press("Shift+Tab");
      await page.keyboard.type("typed");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Tab");
      expect((await focusOf(page)).what).toBe("Reject");
      await page.keyboard.press("Enter");
      await page.getByRole("status").getByText("Rejected.").waitFor();
      expect((await stage.ended(asked.runId)).outcome).toBe("rejected");
    },
    slowMs,
  );

  test(
    "is decided without JavaScript, on a phone, with nothing to scroll sideways and room for a thumb",
    async () => {
      const asked = await stage.ask("PHONE", everyField);
      const small = await openPage(browser, { ...phone, javaScriptEnabled: false });
      await small.goto(asked.linkOf(ann));
      await small.screenshot({ path: picture("review-phone"), fullPage: true });
      for (const name of ["Approve", "Reject"]) {
        const box = await small.getByRole("button", { name }).boundingBox();
        expect(box?.height).toBeGreaterThanOrEqual(44);
        expect(box?.width).toBeGreaterThanOrEqual(44);
      }
      await small.getByRole("button", { name: "Approve" }).tap();
      await small.getByText("Your decision counts.").waitFor();
      await small.close();
      expect((await stage.ended(asked.runId)).status).toBe("SUCCEEDED");

      const scripted = await openPage(browser, phone);
      await scripted.goto((await stage.ask("PHONE-2", everyField)).linkOf(ann));
      expect(await accessibilityFaults(scripted)).toEqual([]);
      await scripted.close();
    },
    slowMs,
  );

  test(
    "takes two people where two are asked for, and says who has said what",
    async () => {
      const asked = await stage.askTwo("TWO");
      await visit(asked.linkOf(ann));
      await page.getByRole("button", { name: "Approve" }).click();
      await page.getByText("Your approval counts. 1 more person has to approve.").waitFor();
      expect((await stage.run(asked.runId)).status).toBe("WAITING");

      await visit(asked.linkOf(bob));
      await page.getByRole("rowheader", { name: ann }).waitFor();
      await page.screenshot({ path: picture("two-people"), fullPage: true });
      await pictureOnPhone("two-people-phone");
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.getByRole("button", { name: "Approve" }).click();
      await page.getByRole("status").getByText("Approved.").waitFor();
      expect((await stage.ended(asked.runId)).status).toBe("SUCCEEDED");
    },
    slowMs,
  );

  test(
    "is asked again when the amount has changed, and shows what was approved before and what is different now",
    async () => {
      const asked = await stage.ask("AGAIN");
      stage.setAmount(6_000);
      await visit(asked.linkOf(ann));
      await page.getByRole("button", { name: "Approve" }).click();
      await page.getByRole("status").getByText("Your decision counts.").waitFor();

      const again = await stage.askedAgain(asked);
      await visit(again.linkOf(bob));
      await page.getByRole("heading", { name: "What changed since it was approved" }).waitFor();
      const changes = page.getByRole("group", { name: "Changed lines" });
      expect(await changes.locator("del").innerText()).toContain("EUR 50.00");
      expect(await changes.locator("ins").innerText()).toContain("EUR 60.00");
      await page.getByText("the check right before sending did not pass (the amount is 6000 now)").waitFor();
      await page.screenshot({ path: picture("asked-again"), fullPage: true });
      await pictureOnPhone("asked-again-phone");
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(stage.effects().filter((line) => line.startsWith("AGAIN "))).toEqual([]);

      // Who comes by the old address is told what became of it, and led to the new one.
      await visit(asked.page);
      await page.getByText(`${ann} had approved it`).waitFor();
      await page.screenshot({ path: picture("superseded"), fullPage: true });
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await page.locator("form").count()).toBe(0);
      await page.getByRole("link", { name: "Open what is asked now" }).click();
      expect(page.url()).toBe(again.page);
      await visit(again.linkOf(bob));

      await page.getByRole("button", { name: "Approve" }).click();
      await page.getByRole("status").getByText("Your decision counts.").waitFor();
      expect((await stage.ended(asked.runId)).status).toBe("SUCCEEDED");
      expect(stage.effects().filter((line) => line.startsWith("AGAIN "))).toEqual(["AGAIN 6000"]);
      stage.setAmount(5_000);
    },
    slowMs,
  );

  async function pictureOnPhone(name: string) {
    const small = await openPage(browser, phone);
    await small.goto(page.url());
    await small.screenshot({ path: picture(name), fullPage: true });
    expect(await accessibilityFaults(small)).toEqual([]);
    await small.close();
  }

  async function visit(link: string) {
    const response = await page.goto(link);
    return { status: response?.status() };
  }
});
