import { describe, test } from "vitest";
import { type Emulator, startEmulator } from "./emulator.ts";
import { findPython } from "./find-python.ts";

/** A suite that needs the emulator. Without it: failed in CI, skipped with the reason anywhere else. */
export function describeDeployed(title: string, suite: (start: () => Promise<Emulator>) => void): void {
  const found = findPython();
  if ("python" in found) {
    describe(title, () => suite(() => startEmulator(found.python)));
    return;
  }
  describe(title, () => {
    test("an AWS emulator is installed", (context) => {
      if (process.env["CI"] === "true") throw new Error(found.missing);
      console.warn(`Skipped: ${found.missing}`); // the reporter shows no reasons
      context.skip(found.missing);
    });
  });
}
