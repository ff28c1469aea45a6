import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accessibilityFaults } from "./accessibility.ts";
import { describeBrowser, openPage, phone } from "./browser.ts";
import { ann, type Asked, bob, picture, type ReviewStage, slowMs, startReviewStage } from "./review-stage.ts";

describeBrowser("a link that is good for nothing", (launch) => {
  let browser: Browser;
  let stage: ReviewStage;
  let page: Page;
  let asked: Asked;
  beforeAll(async () => {
    [browser, stage] = await Promise.all([launch(), startReviewStage()]);
    page = await openPage(browser);
    asked = await stage.ask("REFUSED");
  }, slowMs);
  afterAll(async () => {
    await browser?.close();
    await stage?.stop();
  });

  const open = async (link: string) => {
    const response = await page.goto(link);
    return { status: response?.status(), title: await page.getByRole("heading", { level: 1 }).innerText() };
  };
  const statusNow = async () =>
    (await stage.api.get(`/approvals/${encodeURIComponent(asked.approvalId)}`)) as { status: string };

  test(
    "says what is the matter and what to do, with the status that fits",
    async () => {
      const link = asked.linkOf(ann);
      expect(await open(link.slice(0, -4))).toEqual({ status: 404, title: "This link is incomplete" });
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await open(`${link.slice(0, -43)}${"A".repeat(43)}`)).toEqual({
        status: 403,
        title: "This link is not valid",
      });
      await page.screenshot({ path: picture("refused"), fullPage: true });
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await page.locator("form").count()).toBe(0);
      const small = await openPage(browser, phone);
      await small.goto(page.url());
      await small.screenshot({ path: picture("refused-phone"), fullPage: true });
      expect(await accessibilityFaults(small)).toEqual([]);
      await small.close();
      expect(await statusNow()).toMatchObject({ status: "pending" });
    },
    slowMs,
  );

  test(
    "is what a program that opens every link leaves as it found it",
    async () => {
      for (const purpose of ["scanner", "prefetch", "preview"]) {
        const answer = await fetch(asked.linkOf(ann), { headers: { "user-agent": purpose, "sec-purpose": purpose } });
        expect(answer.status).toBe(200);
        await answer.text();
      }
      expect(await statusNow()).toMatchObject({ status: "pending" });
    },
    slowMs,
  );

  test(
    "is one whose form another site sends, in the reviewer's own browser",
    async () => {
      const link = asked.linkOf(ann);
      await page.goto(link);
      const token = await page.locator("input[name=form]").inputValue();
      const victim = await openPage(browser);
      await victim.route("http://evil.example/", (route) =>
        route.fulfill({
          contentType: "text/html",
          body: `<form method="post" action="${link}"><input name="form" value="${token}"><button name="decision" value="approve">Win</button></form>`,
        }),
      );
      await victim.goto("http://evil.example/");
      await Promise.all([victim.waitForURL(link), victim.getByRole("button").click()]);
      await victim.getByRole("heading", { name: "Nothing was decided" }).waitFor();
      await victim.close();
      expect(await statusNow()).toMatchObject({ status: "pending" });
    },
    slowMs,
  );

  test(
    "is one that a page of another site shows in a frame: the frame stays empty",
    async () => {
      const framing = await openPage(browser);
      await framing.route("http://evil.example/", (route) =>
        route.fulfill({ contentType: "text/html", body: `<iframe src="${asked.linkOf(ann)}"></iframe>` }),
      );
      await framing.goto("http://evil.example/", { waitUntil: "load" });
      const shown = framing.frames().map((frame) => frame.url());
      expect(shown.some((url) => url.includes("/review/"))).toBe(false);
      await framing.close();
    },
    slowMs,
  );

  test(
    "is one whose approval was decided: it says by whom",
    async () => {
      await page.goto(asked.linkOf(bob));
      await page.getByRole("button", { name: "Approve" }).click();
      await page.getByRole("status").getByText("Your decision counts.").waitFor();
      expect(await open(asked.linkOf(ann))).toEqual({ status: 410, title: "This has been decided" });
      await page.getByText(`Approved by ${bob}`).waitFor();
      await page.screenshot({ path: picture("decided"), fullPage: true });
      expect(await accessibilityFaults(page)).toEqual([]);
    },
    slowMs,
  );

  test(
    "is one whose time is over: it says so, and so does the approval's page",
    async () => {
      const brief = await stage.askBriefly("BRIEF");
      expect(await stage.ended(brief.runId)).toMatchObject({ status: "SUCCEEDED", outcome: "expired" });
      expect(await open(brief.linkOf(ann))).toEqual({ status: 410, title: "This link has expired" });
      await page.screenshot({ path: picture("refused-expired"), fullPage: true });
      expect(await accessibilityFaults(page)).toEqual([]);

      await page.goto(brief.page);
      await page.getByText("nobody decided in time, and nothing was sent").waitFor();
      expect(await page.locator("form").count()).toBe(0);
      await page.screenshot({ path: picture("expired"), fullPage: true });
      expect(await accessibilityFaults(page)).toEqual([]);
    },
    slowMs,
  );
});
