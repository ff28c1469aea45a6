import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { describe, test } from "vitest";

/** Names that Chromium goes by; the first that the PATH has is taken, unless the environment names one. */
const programs = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const programVariable = "SUREFOOT_BROWSER";
const missing = `no browser was found: bash .ci/install-browser.sh installs one, or ${programVariable} names one`;

function findProgram(): string | undefined {
  const named = process.env[programVariable];
  if (named !== undefined) return named;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return programs.flatMap((program) => folders.map((folder) => join(folder, program))).find((path) => existsSync(path));
}

/** A suite that needs a browser. Without one: failed in CI, skipped with the reason anywhere else. */
export function describeBrowser(title: string, suite: (launch: () => Promise<Browser>) => void): void {
  const program = findProgram();
  if (program !== undefined) {
    describe(title, () => suite(() => launch(program)));
    return;
  }
  describe(title, () => {
    test("a browser is installed", (context) => {
      if (process.env["CI"] === "true") throw new Error(missing);
      console.warn(`Skipped: ${missing}`); // the reporter shows no reasons
      context.skip(missing);
    });
  });
}

const launch = (executablePath: string): Promise<Browser> =>
  chromium.launch({
    executablePath,
    // In a container the browser's own sandbox has no privileges to build on; it opens nothing but our pages.
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });

/** A page of a browser of its own, without cookies or history of others. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1_024, height: 800 }, ...options });
  context.setDefaultTimeout(20_000);
  return context.newPage();
}

/** The width of a common phone. */
export const phone: BrowserContextOptions = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
