import type { Json, JsonObject } from "./json.ts";
import { parsePath, readPath } from "./json-path.ts";
import { textWithinLimit } from "./payload-limit.ts";
import { fillTemplate, pathNotFound } from "./payload-template.ts";
import { applyResultPath } from "./result-path.ts";
import { contextOf, type Visit } from "./visit.ts";

/** InputPath and OutputPath: absent is everything, `null` is an empty object. */
export function narrow(
  field: "InputPath" | "OutputPath",
  path: string | null | undefined,
  data: Json,
  visit: Visit,
): Json {
  if (path === null) return {};
  if (path === undefined) return data;
  const roots = { data, context: contextOf(visit) };
  const parsed = parsePath(path);
  const value = readPath(parsed, roots);
  if (value === undefined) throw pathNotFound(path, field, roots[parsed.root]);
  return value;
}

/** Parameters over the narrowed input. @throws StateFailure when what they add up to exceeds the quota. */
export function fillParameters(template: JsonObject | undefined, input: Json, visit: Visit, token?: string): Json {
  if (template === undefined) return input;
  const filled = fillTemplate(template, { data: input, context: contextOf(visit, token) });
  textWithinLimit(visit.name, filled);
  return filled;
}

/** ResultSelector over the result, then ResultPath into the raw input. */
export function combineResult(
  state: { readonly ResultSelector?: JsonObject | undefined; readonly ResultPath?: string | null | undefined },
  rawInput: Json,
  result: Json,
  visit: Visit,
): Json {
  const selected =
    state.ResultSelector === undefined
      ? result
      : fillTemplate(state.ResultSelector, { data: result, context: contextOf(visit) });
  const combined = applyResultPath(state.ResultPath, rawInput, selected);
  textWithinLimit(visit.name, combined);
  return combined;
}
