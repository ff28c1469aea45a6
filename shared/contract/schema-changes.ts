import type { SchemaMeaning } from "./schema-digest.ts";

/** Characters of a schema that one line shows. */
const briefCharsMax = 60;

/** How two schemas differ, field by field: `address.zip was added`, `amountCents: integer → string`. */
export function schemaChanges(was: unknown, now: unknown, path = ""): readonly string[] {
  if (JSON.stringify(was) === JSON.stringify(now)) return [];
  const [before, after] = [asObject(was), asObject(now)];
  if (before && after && !differBeside(before, after, ["properties", "required"]) && "properties" in before) {
    return fieldChanges(before, after, path);
  }
  if (before && after && !differBeside(before, after, ["items"]) && "items" in before) {
    return schemaChanges(before["items"], after["items"], `${path}[]`);
  }
  return [`${path === "" ? "it" : path}: ${brief(was)} → ${brief(now)}`];
}

function fieldChanges(was: SchemaMeaning, now: SchemaMeaning, path: string): readonly string[] {
  const [before, after] = [asObject(was["properties"]) ?? {}, asObject(now["properties"]) ?? {}];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    const field = path === "" ? name : `${path}.${name}`;
    if (!(name in after)) return [`${field} was removed`];
    if (!(name in before)) return [`${field} was added${isRequired(now, name) ? "" : ", optional"}`];
    const presence =
      isRequired(was, name) === isRequired(now, name)
        ? []
        : [`${field} ${isRequired(now, name) ? "must be there now" : "may be missing now"}`];
    return [...presence, ...schemaChanges(before[name], after[name], field)];
  });
}

const isRequired = (schema: SchemaMeaning, name: string): boolean => {
  const required = schema["required"];
  return Array.isArray(required) && required.includes(name);
};

const differBeside = (was: SchemaMeaning, now: SchemaMeaning, keywords: readonly string[]): boolean =>
  [...new Set([...Object.keys(was), ...Object.keys(now)])]
    .filter((keyword) => !keywords.includes(keyword))
    .some((keyword) => JSON.stringify(was[keyword]) !== JSON.stringify(now[keyword]));

const asObject = (value: unknown): SchemaMeaning | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as SchemaMeaning) : undefined;

function brief(schema: unknown): string {
  const members = Object.entries(asObject(schema) ?? {});
  const [only] = members;
  if (members.length === 1 && only?.[0] === "type") return String(only[1]);
  const text = JSON.stringify(schema) ?? "nothing";
  return text.length <= briefCharsMax ? text : `${text.slice(0, briefCharsMax - 1)}…`;
}
