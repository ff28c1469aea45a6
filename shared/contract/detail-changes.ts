import type { Details, Manifest } from "./manifest.ts";
import type { MattersTo } from "./node-details.ts";
import { schemaChanges } from "./schema-changes.ts";

/** Details that differ and matter to that sort of run. One that this code does not know matters to everybody. */
export const mattering = (
  was: Details,
  now: Details,
  to: MattersTo,
  table: Readonly<Record<string, MattersTo>>,
): readonly string[] => differing(was, now).filter((name) => (table[name] ?? to) === to);

const differing = (was: Details, now: Details): readonly string[] =>
  [...new Set([...Object.keys(was), ...Object.keys(now)])].filter(
    (name) => JSON.stringify(was[name]) !== JSON.stringify(now[name]),
  );

/** How details differ, a sentence each. Schemas are opened up; digests that nobody can read are named only. */
export function detailChanges(was: Details, now: Details, recorded: Manifest, current: Manifest): readonly string[] {
  return differing(was, now).flatMap((name) => {
    const [before, after] = [was[name], now[name]];
    const words = inWords[name] ?? name.replaceAll("_", " ");
    if (name === "compensation_record") return [];
    if (name === "prompt_text") return [words];
    if (name === "output") return schemaChange("output", before, after, recorded, current);
    if (before === undefined || before === false) return [`${words} was added${valueOf(after)}`];
    if (after === undefined || after === false) return [`${words} was removed`];
    return [`${words}: ${textOf(before)} → ${textOf(after)}`];
  });
}

export function schemaChange(
  what: string,
  was: Details[string] | undefined,
  now: Details[string] | undefined,
  recorded: Manifest,
  current: Manifest,
): readonly string[] {
  if (was === now) return [];
  const changes = schemaChanges(recorded.schemas[String(was)], current.schemas[String(now)]);
  return [`${what}: ${changes.join("; ")}`];
}

const inWords: Readonly<Record<string, string>> = {
  prompt_text: "the prompt's text changed",
  business_key: "a business key of its own",
  only_when: "a condition to be asked",
  output_tokens_max: "output tokens",
};

const textOf = (value: Details[string]): string => (Array.isArray(value) ? value.join(", ") : String(value));

const valueOf = (value: Details[string] | undefined): string =>
  value === undefined || value === true ? "" : `: ${textOf(value)}`;
