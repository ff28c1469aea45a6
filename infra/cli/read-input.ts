import { readFileSync } from "node:fs";
import { CliError } from "./cli-error.ts";

/** `--input`: JSON text, `@file`, or `-` for standard input. @throws CliError 2 that shows where the JSON breaks. */
export function readInput(given: string): unknown {
  const file = given === "-" ? 0 : given.startsWith("@") ? given.slice(1) : undefined;
  const text = file === undefined ? given : readText(file);
  try {
    // Some editors begin a file with a byte order mark, which is no JSON.
    return JSON.parse(text.replace(/^\uFEFF/u, ""));
  } catch (error) {
    const where = error instanceof Error ? error.message : "not JSON";
    throw new CliError(
      2,
      "input_not_json",
      `--input is not JSON (${where}): pass '{"key": …}', @file.json, or - for standard input`,
    );
  }
}

function readText(file: string | 0): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const name = file === 0 ? "standard input" : file;
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(2, "input_not_found", `--input names ${name}, which cannot be read (${why})`);
  }
}
