import type { Command } from "commander";
import { type ApiClient, findApi } from "./api-client.ts";
import { CliError } from "./cli-error.ts";
import { createOutput, type Output } from "./output.ts";

interface Globals {
  readonly json?: boolean;
  readonly api?: string;
  readonly folder: string;
}

/** What every command gets: where to write, and the API when it wants it. */
export interface Session {
  readonly output: Output;
  readonly api: () => ApiClient;
  readonly folder: string;
}

/** The session that a command's options ask for, the global ones before or after its name. */
export function sessionOf(command: Command): Session {
  const { json, api, folder } = command.optsWithGlobals<Globals>();
  return { output: createOutput(json ?? false), api: () => findApi({ api, folder }), folder };
}

/** A whole number from `min` to `max`. @throws CliError 2 that names the option. */
export function wholeNumber(option: string, text: string, min: number, max: number): number {
  const number = /^\d+$/u.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new CliError(2, "bad_number", `${option}: expected a whole number from ${min} to ${max}, found "${text}"`);
}

/** `?a=b`, without what nobody gave. */
export function queryOf(values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
}
