import { isObject, type Json } from "./json.ts";

export interface JsonPath {
  readonly source: string;
  /** `$` reads the state's data, `$$` the context object. */
  readonly root: "data" | "context";
  readonly steps: readonly (string | number)[];
}

export interface PathRoots {
  readonly data: Json;
  readonly context: Json;
}

export class PathSyntaxError extends Error {
  override readonly name = "PathSyntaxError";
}

const STEP = /^(?:\.([^.[\]()*?@,'"\s$]+)|\[(0|[1-9]\d*)\]|\['([^'\\]+)'\])/;

/** Parses `$`, `$.a.b`, `$.a[0]`, `$['a b']` and the same under `$$`.
 *  @throws PathSyntaxError for wildcards, filters, slices, descents and intrinsic functions: they are not supported. */
export function parsePath(source: string): JsonPath {
  if (/^States\.\w+\s*\(/.test(source)) {
    throw new PathSyntaxError(
      `expected a path, found the intrinsic function ${source}: intrinsic functions are not supported, compute the value in the Lambda`,
    );
  }
  const head = /^\${1,2}/.exec(source)?.[0];
  if (head === undefined)
    throw new PathSyntaxError(`expected a path that starts with $ or $$, found ${JSON.stringify(source)}`);
  const steps: (string | number)[] = [];
  let rest = source.slice(head.length);
  while (rest !== "") {
    const match = STEP.exec(rest);
    if (match === null) {
      throw new PathSyntaxError(`expected only .name, [index] or ['name'] in ${source}, found ${JSON.stringify(rest)}`);
    }
    const [text, dotted, index, quoted] = match;
    steps.push(index === undefined ? (dotted ?? quoted ?? "") : Number(index));
    rest = rest.slice(text.length);
  }
  return { source, root: head === "$$" ? "context" : "data", steps };
}

/** `undefined` where the path selects nothing (JSON itself has no undefined). */
export function readPath(path: JsonPath, roots: PathRoots): Json | undefined {
  let value: Json | undefined = roots[path.root];
  for (const step of path.steps) {
    if (typeof step === "number") value = Array.isArray(value) ? (value as readonly Json[])[step] : undefined;
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    if (value === undefined) return undefined;
  }
  return value;
}

/** Puts `value` at the reference path, creating missing objects on the way; the input is not changed.
 *  `undefined` where something other than an object or an existing array item is in the way. */
export function writePath(path: JsonPath, input: Json, value: Json): Json | undefined {
  return place(path.steps, input, value);
}

function place(steps: JsonPath["steps"], target: Json | undefined, value: Json): Json | undefined {
  const [step, ...deeper] = steps;
  if (step === undefined) return value;
  if (typeof step === "number") {
    if (!Array.isArray(target)) return undefined;
    const items = target as readonly Json[];
    if (step >= items.length) return undefined;
    const item = place(deeper, items[step], value);
    return item === undefined ? undefined : items.with(step, item);
  }
  if (target !== undefined && !isObject(target)) return undefined;
  const known = target !== undefined && Object.hasOwn(target, step) ? target[step] : undefined;
  const field = place(deeper, known, value);
  return field === undefined ? undefined : { ...target, [step]: field };
}
