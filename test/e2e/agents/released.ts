import { appendFileSync } from "node:fs";
import { z } from "zod";
import { days, defineAgent, type Migration, none, writeTool } from "../../../shared/index.ts";

/** Where each effect is a line: which version's code made it, and of what. */
export const effectsFileName = "EFFECTS_FILE";

const Ticket = z.object({ order: z.string(), amountCents: z.number().int() });

const migration: Migration = {
  from: 7,
  to: 8,
  migrate: (state) => ({ ...state, lookup: { total: 1_000 } }),
  resumeAt: { approval: "risk_check" },
};

/** planner → lookup → (from 8 on: risk_check) → approval → payment → notify: one workflow over its releases. */
export function released(version: number, migrates = false) {
  const pay = writeTool("pay", {
    version: 1,
    risk: "high",
    input: Ticket,
    output: z.object({ by: z.number().int() }),
    downstream: none(),
    semanticFields: ["order", "amountCents"],
    execute: async ({ order, amountCents }) => {
      appendFileSync(process.env[effectsFileName] ?? "", `${order} ${amountCents} by ${version}\n`);
      return { by: version };
    },
  });
  const looked = defineAgent("released", {
    version,
    input: Ticket,
    ...(migrates && { migrations: [migration] }),
  })
    .compute("planner", { output: z.object({ steps: z.number() }), run: () => ({ steps: 3 }) })
    .compute("lookup", { output: z.object({ total: z.number() }), run: ({ input }) => ({ total: input.amountCents }) });
  const risky =
    version < 8
      ? looked
      : (looked.compute("risk_check", {
          output: z.object({ by: z.number() }),
          run: () => ({ by: version }),
        }) as unknown as typeof looked);
  return risky
    .approval("approval", {
      of: "payment",
      show: ({ lookup }) => ({
        title: "Pay the order",
        fields: [{ type: "money", label: "Amount", amount_cents: lookup.total, currency: "eur" }],
        on_approve: "It is paid once.",
        on_reject: "Nothing happens.",
      }),
      validFor: days(30),
      onReject: "end",
    })
    .write("payment", { tool: pay, with: ({ input, lookup }) => ({ order: input.order, amountCents: lookup.total }) })
    .compute("notify", { output: z.object({ text: z.string() }), run: () => ({ text: `done by ${version}` }) })
    .end();
}
