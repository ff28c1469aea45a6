import { isObject, type Json, type JsonObject } from "./json.ts";
import { parsePath, PathSyntaxError, readPath, type JsonPath, type PathRoots } from "./json-path.ts";
import { PathFailure } from "./state-failure.ts";

/** Parameters or ResultSelector: a field named `x.$` holds a path, and its value lands in `x`; the rest is literal. */
export function fillTemplate(template: JsonObject, roots: PathRoots): JsonObject {
  return Object.fromEntries(
    Object.entries(template).map(([key, value]) =>
      isPathField(key) ? [key.slice(0, -2), select(key, value, roots)] : [key, fillValue(value, roots)],
    ),
  );
}

function fillValue(value: Json, roots: PathRoots): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => fillValue(item, roots));
  return isObject(value) ? fillTemplate(value, roots) : value;
}

function select(field: string, source: Json, roots: PathRoots): Json {
  const path = parsePath(typeof source === "string" ? source : ""); // the definition check has seen to both
  const value = readPath(path, roots);
  if (value === undefined) throw pathNotFound(path.source, field, roots[path.root]);
  return value;
}

export function pathNotFound(path: string, field: string, input: Json): PathFailure {
  return new PathFailure(
    `The JSONPath '${path}' specified for the field '${field}' could not be found in the input '${JSON.stringify(input)}'`,
  );
}

export interface TemplateProblem {
  readonly at: readonly (string | number)[];
  readonly message: string;
}

/** Everything that would make filling the template fail for any input, each with its place in the template. */
export function checkTemplate(template: Json, at: readonly (string | number)[] = []): TemplateProblem[] {
  if (Array.isArray(template)) {
    return (template as readonly Json[]).flatMap((item, index) => checkTemplate(item, [...at, index]));
  }
  if (!isObject(template)) return [];
  return Object.entries(template).flatMap(([key, value]) => {
    const here = [...at, key];
    if (!isPathField(key)) return checkTemplate(value, here);
    const name = key.slice(0, -2);
    if (Object.hasOwn(template, name))
      return [{ at: here, message: `expected one value, found both ${name} and ${key}` }];
    const problem = typeof value === "string" ? pathProblem(value) : `expected a path, found ${JSON.stringify(value)}`;
    return problem === undefined ? [] : [{ at: here, message: problem }];
  });
}

/** Every path in a template, for checks that need the meaning of the path and not only its syntax. */
export function templatePaths(template: Json): { at: readonly (string | number)[]; path: JsonPath }[] {
  if (Array.isArray(template)) {
    return (template as readonly Json[]).flatMap((item, index) => under(index, templatePaths(item)));
  }
  if (!isObject(template)) return [];
  return Object.entries(template).flatMap(([key, value]) =>
    isPathField(key) && typeof value === "string"
      ? [{ at: [key], path: parsePath(value) }]
      : under(key, templatePaths(value)),
  );
}

export function pathProblem(source: string): string | undefined {
  try {
    parsePath(source);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof PathSyntaxError) return thrown.message;
    throw thrown;
  }
}

function under<T extends { at: readonly (string | number)[] }>(step: string | number, found: T[]): T[] {
  return found.map((entry) => ({ ...entry, at: [step, ...entry.at] }));
}

function isPathField(key: string): boolean {
  return key.endsWith(".$");
}
