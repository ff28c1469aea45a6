import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accessibilityFaults } from "./accessibility.ts";
import { describeBrowser, openPage } from "./browser.ts";
import { slowMs } from "./review-stage.ts";

describeBrowser("the look at accessibility", (launch) => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  }, slowMs);
  afterAll(() => browser?.close());

  const faultsOf = async (body: string, head = "<title>t</title>") => {
    const page = await openPage(browser);
    const viewport = '<meta name="viewport" content="width=device-width">';
    await page.setContent(
      `<html lang="en"><head>${viewport}${head}</head><body><header>h</header><main>${body}</main><footer>f</footer></body></html>`,
    );
    const faults = await accessibilityFaults(page);
    await page.close();
    return faults;
  };

  test("finds nothing wrong with a page that has it all", async () => {
    expect(await faultsOf('<h1>One</h1><h2>Two</h2><label for="a">A</label><input id="a"><button>Go</button>')).toEqual(
      [],
    );
  });

  test.each([
    ["<h1>One</h1><h1>Two</h1>", "expected one h1, found 2"],
    ["<h1>One</h1><h3>Three</h3>", "<h3> Three skips a level"],
    ["<h1>One</h1><input>", "has no label"],
    ["<h1>One</h1><button></button>", "has no name"],
    ['<h1 id="a">One</h1><p id="a">p</p>', 'id "a" is there twice'],
    ['<h1>One</h1><section aria-labelledby="x">p</section>', 'nothing has the id "x"'],
    ["<h1>One</h1><table><tr><td>1</td></tr></table>", "a table has no column headers"],
    ['<h1>One</h1><p style="color:#999">pale</p>', "<p> pale has a contrast of 2.85"],
    ['<h1>One</h1><button style="border-color:#ddd;background:#eee;color:#000">Go</button>', "the edge of <button> Go"],
    ['<h1>One</h1><div style="width:3000px">wide</div>', "the page scrolls sideways"],
    ['<h1>One</h1><p tabindex="3">p</p>', "the order of focus is forced"],
    ['<h1>One</h1><img src="">', "a picture has no text"],
  ])("finds what is wrong with %s", async (body, fault) => {
    const faults = await faultsOf(body);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(fault);
  });
});
