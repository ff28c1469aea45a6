import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accessibilityFaults, directionOf, heightOf } from "./accessibility.ts";
import { describeBrowser, openPage, phone } from "./browser.ts";
import { ann, picture, type ReviewStage, slowMs, startReviewStage, viewOf } from "./review-stage.ts";

const script = `</dd></section><script>document.title="owned"</script><img src=x onerror="document.title='owned'">`;
const long = `${"A long letter from the customer, word after word. ".repeat(1_024)}THE END`;
const hostile = viewOf(
  [
    { type: "addresses", label: `To ${script}`, list: [`"><svg onload=alert(1)>@example.com`, "a".repeat(1_000)] },
    { type: "diff", label: "Text", before: script, after: `${script} changed` },
    {
      type: "sql",
      label: "Statement",
      statement: `SELECT '${script}' -- \u202Egnp.exe`,
      estimated_rows: null,
      rollback_plan: script,
    },
    { type: "text", label: "Right to left", text: "המחיר הוא 50 שקלים.\nPay 50 now." },
    { type: "text", label: "Override", text: "invoice\u202Efdp.exe" },
    { type: "text", label: "Letter", text: long },
  ],
  {
    title: `Refund ${script} 1`.slice(0, 200),
    reason: `${script}\nשלום`,
    on_approve: script,
    on_reject: `${script} no`,
  },
);

describeBrowser("what an agent shows that means no good", (launch) => {
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

  test(
    "is shown as the text it is: nothing runs, nothing is loaded, and the buttons are where they belong",
    async () => {
      const asked = await stage.ask("HOSTILE", hostile);
      const loaded: string[] = [];
      page.on("request", (request) => loaded.push(request.url()));
      for (const address of [asked.linkOf(ann), asked.page, `${stage.url}/approvals`]) {
        await page.goto(address);
        expect(await page.title()).not.toBe("owned");
        expect(await page.locator("script, img, svg, iframe, object, embed").count()).toBe(0);
        expect(await page.locator("main section").count()).toBeGreaterThanOrEqual(1);
        expect(await accessibilityFaults(page)).toEqual([]);
      }
      expect(loaded.filter((url) => !url.startsWith(stage.url))).toEqual([]);
      expect(loaded).toHaveLength(3);
    },
    slowMs,
  );

  test(
    "keeps its direction to itself, and turns nothing around",
    async () => {
      await page.goto((await stage.ask("DIRECTION", hostile)).linkOf(ann));
      const field = (label: string) => page.locator(".fields > div", { has: page.getByText(label, { exact: true }) });
      expect(await field("Override").locator("dd").innerText()).toBe("invoice<U+202E>fdp.exe");
      const hebrew = field("Right to left").locator(".text");
      expect(await directionOf(hebrew)).toBe("rtl");
      expect(await directionOf(field("Override").locator(".text"))).toBe("ltr");
      expect(await page.locator("bdo").count()).toBe(0);
      await page.screenshot({ path: picture("hostile"), fullPage: true });
    },
    slowMs,
  );

  test(
    "of fifty kilobytes is folded, within reach, and does not push the buttons away",
    async () => {
      await page.goto((await stage.ask("LONG", hostile)).linkOf(ann));
      expect(Buffer.byteLength(long)).toBeGreaterThan(50_000);
      const ending = page.getByText("THE END");
      expect(await ending.isVisible()).toBe(false);
      const height = await heightOf(page);
      expect(height).toBeLessThan(4_500);
      await page.getByText(/^Show all 51,\d{3} characters/u).click();
      await ending.waitFor();

      const small = await openPage(browser, phone);
      await small.goto(page.url());
      expect(await accessibilityFaults(small)).toEqual([]);
      await small.close();
    },
    slowMs,
  );
});
