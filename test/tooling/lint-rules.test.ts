import { ESLint } from "eslint";
import tseslint from "typescript-eslint";
import { describe, expect, it } from "vitest";

/** The project's own rules on text that is in no file; what needs type information is switched off, as there is no program for it. */
const eslint = new ESLint({ overrideConfig: [{ files: ["**/*.ts"], ...tseslint.configs.disableTypeChecked }] });

async function complaints(filePath: string, text: string): Promise<string[]> {
  const [result] = await eslint.lintText(text, { filePath });
  return (result?.messages ?? [])
    .filter(({ ruleId }) => ruleId === "no-restricted-syntax")
    .map(({ message }) => message);
}

describe("time, chance and settings enter shared through ports", () => {
  it.each([
    ["export const now = Date.now();", "clock port"],
    ["export const now = new Date();", "clock port"],
    ["export const now = Date();", "clock port"],
    ["export const dice = Math.random();", "ids port"],
    ["export const id = crypto.randomUUID();", "ids port"],
    [`import { randomUUID as id } from "node:crypto"; export const fresh = id();`, "ids port"],
    ["export const table = process.env.TABLE;", "lambdas/env.ts"],
    [`export const table = process["env"].TABLE;`, "lambdas/env.ts"],
    ["const { env } = process; export const table = env.TABLE;", "lambdas/env.ts"],
    [`import { env } from "node:process"; export const table = env.TABLE;`, "lambdas/env.ts"],
  ])("%s is refused and the way to go is named", async (text, named) => {
    expect(await complaints("shared/ledger/claim.ts", text)).toEqual([expect.stringContaining(named)]);
  });

  it("an instant that was handed in is fine", async () => {
    expect(await complaints("shared/ledger/claim.ts", "export const at = (ms: number) => new Date(ms);")).toEqual([]);
  });

  it("handlers are held to it too, and only the wiring is not", async () => {
    const text = "export const now = () => Date.now();";
    expect(await complaints("lambdas/step-handler.ts", text)).toHaveLength(1);
    expect(await complaints("lambdas/entry/step.ts", text)).toEqual([]);
    expect(await complaints("lambdas/env.ts", text)).toEqual([]);
    expect(await complaints("infra/local/serve.ts", text)).toEqual([]);
  });
});
