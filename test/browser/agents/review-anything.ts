import { appendFile, readFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { ApprovalView, days, defineAgent, none, seconds, writeTool } from "../../../shared/index.ts";
import { worldNames } from "./world-names.ts";

/** The view is checked where it is shown, as every agent's is. */
const Asked = z.object({ name: z.string(), view: z.record(z.string(), z.unknown()) });
const amountFile = () => process.env[worldNames.amount] ?? "";

const send = writeTool("send", {
  version: 1,
  risk: "low",
  input: z.object({ name: z.string(), amountCents: z.number().int() }),
  output: z.object({ sent: z.string() }),
  timeout: seconds(10),
  downstream: none(),
  semanticFields: ["name", "amountCents"],
  execute: async ({ name, amountCents }) => {
    await appendFile(process.env[worldNames.effects] ?? "", `${name} ${amountCents}\n`);
    return { sent: name };
  },
});

/** Has a person approve whatever view it is given. Its amount is read again before it is sent: another one is asked about anew. */
export default defineAgent("review-anything", { version: 1, input: Asked })
  .compute("draft", {
    output: z.object({ amountCents: z.number().int() }),
    run: () => ({ amountCents: Number(readFileSync(amountFile(), "utf8")) }),
  })
  .approval("review", {
    of: "send",
    show: ({ input, draft }) => {
      const view = ApprovalView.parse(input.view);
      const amount = { type: "money" as const, label: "Amount", amount_cents: draft.amountCents, currency: "EUR" };
      return { ...view, fields: [amount, ...view.fields] };
    },
    approvers: { names: ["ann@example.com", "bob@example.com"], roles: ["finance"] },
    validFor: days(7),
    onReject: "end",
    onStale: "draft",
  })
  .write("send", {
    tool: send,
    with: ({ input, draft }) => ({ name: input.name, amountCents: draft.amountCents }),
    businessKey: ({ input }) => input.name,
    precondition: async ({ amountCents }) => {
      const now = Number(await readFile(amountFile(), "utf8"));
      return now === amountCents || `the amount is ${now} now`;
    },
  })
  .end();
