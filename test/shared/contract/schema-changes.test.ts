import { expect, it } from "vitest";
import { z } from "zod";
import { schemaChanges } from "../../../shared/contract/schema-changes.ts";
import { schemaMeaning } from "../../../shared/contract/schema-digest.ts";

const order = z.object({
  id: z.string(),
  lines: z.array(z.object({ cents: z.number().int() })),
  at: z.object({ zip: z.string() }),
});

it.each<[string, z.ZodType, readonly string[]]>([
  ["nothing", order, []],
  ["a field more", order.extend({ note: z.string() }), ["note was added"]],
  ["a field more that may be missing", order.extend({ note: z.string().optional() }), ["note was added, optional"]],
  ["a field less", order.omit({ at: true }), ["at was removed"]],
  ["a field's type", order.extend({ id: z.number() }), ["id: string → number"]],
  ["a field that may be missing", order.partial({ id: true }), ["id may be missing now"]],
  [
    "something deep inside",
    order.extend({
      lines: z.array(z.object({ cents: z.string() })),
      at: z.object({ zip: z.string(), city: z.string() }),
    }),
    [expect.stringMatching(/^lines\[\]\.cents: \{"type":"integer".* → string$/), "at.city was added"],
  ],
  ["the whole", z.string(), [expect.stringMatching(/^it: \{.*… → string$/)]],
])("a schema differs in %s", (_what, now, changes) => {
  expect(schemaChanges(schemaMeaning(order), schemaMeaning(now))).toEqual(changes);
});
