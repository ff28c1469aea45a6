import { z } from "zod";

/** JSON Schema, as far as an agent's schemas reach. */
interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly prefixItems?: readonly JsonSchema[];
  readonly minItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly format?: string;
}

const textOf: Readonly<Record<string, string>> = {
  email: "drill@example.com",
  uri: "https://example.com/drill",
  uuid: "7d444840-9dc0-4b1e-9b1a-6f1f0a2c3d4e",
  "date-time": "2026-09-02T12:00:00Z",
  date: "2026-09-02",
  time: "12:00:00",
  ipv4: "192.0.2.1",
  hostname: "example.com",
};

/**
 * A value that fits `schema`, always the same for the same `name`: what a drill or a simulation says where nobody said anything.
 * @throws Error naming `what` where the schema asks for more than its JSON form shows, e.g. a pattern or a refinement.
 */
export function inventValue(schema: z.ZodType, what: string, name = "drill"): unknown {
  const value = made(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema, name);
  const fitting = schema.safeParse(value);
  if (fitting.success) return fitting.data;
  const why = fitting.error.issues.map(({ path, message }) => `${path.join(".") || "value"}: ${message}`).join("; ");
  throw new Error(
    `cannot make up ${what} from its schema (${why}): a drill can be told it, export default defineDrill({ agent, … })`,
  );
}

function made(schema: JsonSchema, name: string): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  const [first] = schema.anyOf ?? schema.oneOf ?? [];
  if (first) return made(first, name);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => made(part, name))) as unknown;
  const type = typeof schema.type === "string" ? schema.type : schema.type?.[0];
  switch (type) {
    case "object":
      return Object.fromEntries((schema.required ?? []).map((key) => [key, made(schema.properties?.[key] ?? {}, key)]));
    case "array":
      return (
        schema.prefixItems?.map((item) => made(item, name)) ??
        Array.from({ length: schema.minItems ?? 1 }, () => made(schema.items ?? {}, name))
      );
    case "string":
      return textFor(schema, name);
    case "integer":
    case "number":
      return numberFor(schema);
    case "boolean":
      return true;
    case "null":
      return null;
    case undefined:
    default:
      return name;
  }
}

function textFor({ format, minLength = 0, maxLength = Infinity }: JsonSchema, name: string): string {
  const known = format === undefined ? undefined : textOf[format];
  if (known !== undefined) return known;
  return name.padEnd(minLength, "-").slice(0, maxLength);
}

function numberFor({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf = 1 }: JsonSchema): number {
  const least = Math.max(
    minimum ?? -Infinity,
    exclusiveMinimum === undefined ? -Infinity : exclusiveMinimum + multipleOf,
  );
  const most = Math.min(maximum ?? Infinity, exclusiveMaximum === undefined ? Infinity : exclusiveMaximum - multipleOf);
  if (least <= multipleOf && multipleOf <= most) return multipleOf;
  return Number.isFinite(least)
    ? Math.ceil(least / multipleOf) * multipleOf
    : Math.floor(most / multipleOf) * multipleOf;
}
