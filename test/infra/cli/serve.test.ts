import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { surefoot } from "./command.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "surefoot-serve-"));
  // A user's agent lies beside its own packages.
  symlinkSync(fileURLToPath(new URL("../../../node_modules", import.meta.url)), join(folder, "node_modules"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const definition = (name: string) => `
  import { defineAgent } from "surefoot";
  import { z } from "zod";
  const empty = z.object({});
  export default defineAgent("${name}", { version: 1, input: empty }).compute("a", { output: empty, run: () => ({}) }).end();
`;
const written = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

test.each<[string, string, string, RegExp]>([
  [
    "without a default export",
    "none.ts",
    "export const agent = 1;",
    /none\.ts: expected an agent as default export, found none/,
  ],
  ["whose default export is no agent", "seven.ts", "export default 7;", /seven\.ts to export an agent by default/],
  ["with a syntax error", "syntax.ts", "export default {{", /syntax\.ts:1:17: Expected identifier but found "\{"/],
  [
    "that needs a package which is not there",
    "alone.ts",
    `import "nonesuch-pkg"; export default 1;`,
    /alone\.ts:1:8: Could not resolve "nonesuch-pkg": install it beside the agent/,
  ],
  [
    "that throws",
    "throws.ts",
    `throw new Error("no settings"); export default 1;`,
    /throws\.ts threw while it was loaded: no settings/,
  ],
  ["with a definition that does not hold", "named.ts", definition("Bad Name"), /agent "Bad Name": the name must be/],
])("an agent module %s ends with 2 and names it", async (_what, name, text, message) => {
  const args = ["serve", "--port", "0", "--folder", join(folder, "data"), "--agent", written(name, text), "--json"];
  const { code, stderr, json } = await surefoot(args);

  expect(stderr).toMatch(message);
  expect(code).toBe(2);
  expect(stderr).not.toMatch(/^\s+at .*:\d+:\d+/mu);
  expect(json().error.code).toBe("bad_agent");
});

test("two agents of one name end with 2", async () => {
  const modules = [written("one.ts", definition("same")), written("two.ts", definition("same"))];
  const { code, stderr } = await surefoot([
    "serve",
    "--port",
    "0",
    "--folder",
    join(folder, "data"),
    "--agent",
    ...modules,
  ]);

  expect(stderr).toMatch(/two of .*one\.ts, .*two\.ts define agent "same": give each its own name/);
  expect(code).toBe(2);
});

test.each([
  ["a module that is not there", "nonesuch.ts"],
  ["a folder", "."],
])("%s ends with 2 before anything is made", async (_what, name) => {
  const data = join(folder, "never");
  const { code, stderr, json } = await surefoot([
    ...["serve", "--port", "0", "--folder", data],
    ...["--agent", join(folder, name), "--json"],
  ]);

  expect(stderr).toMatch(/^surefoot: --agent names .*, which is no file: pass a \.ts or \.js module$/mu);
  expect(code).toBe(2);
  expect(json().error.code).toBe("no_module");
  expect(existsSync(data)).toBe(false);
});

test("a folder that cannot be made ends with 2", async () => {
  const { code, stderr } = await surefoot(["serve", "--port", "0", "--folder", join(written("file", ""), "data")]);

  expect(stderr).toMatch(/^surefoot: --folder .* cannot be used \(ENOTDIR.*\): choose another$/mu);
  expect(code).toBe(2);
});
