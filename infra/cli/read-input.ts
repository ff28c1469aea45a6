import { readFileSync } from "node:fs";
import { CliError } from "./cli-error.ts";

/** `--input`: JSON text, `@file`, or `-` for standard input. @throws CliError 2 that shows where the JSON breaks. */
export function readInput(given: string): unknown {
  const text = given === "-" ? readFileSync(0, "utf8") : given.startsWith("@") ? readText(given.slice(1)) : given;
  try {
    return JSON.parse(text);
  } catch (error) {
    const where = error instanceof Error ? error.message : "not JSON";
    throw new CliError(
      2,
      "input_not_json",
      `--input is not JSON (${where}): pass '{"key": …}', @file.json, or - for standard input`,
    );
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new CliError(2, "input_not_found", `--input names ${file}, which cannot be read`);
  }
}
