import { z } from "zod";
import type { ContractVerdict } from "../../../shared/contract/verdict.ts";
import { byKey, byQuery, hours, minutes, none } from "../../../shared/index.ts";
import {
  type Builder,
  lookupTool,
  mailTool,
  note,
  Order,
  type Parts,
  paymentTool,
  Plan,
  plannerPrompt,
  riskCheck,
  second,
  Ticket,
} from "./payment-agent.ts";

const lookup = async () => "cannot_tell" as const;
const lowRisk = { payment: { tool: paymentTool({ risk: "low" }) } };
const migration = { from: 7, to: 8, migrate: (state: object) => state };

type Row = readonly [what: string, parts: Parts & { readonly was?: Parts }, verdict: ContractVerdict, ...who: string[]];

const rows: readonly Row[] = [
  // What nothing depends on.
  ["nothing", {}, "same"],
  ["the description of a field", { planner: { output: Plan.extend({ why: z.string().describe("why") }) } }, "same"],
  [
    "the order of a schema's fields",
    { planner: { output: z.object({ why: z.string(), amountCents: z.number().int() }) } },
    "same",
  ],
  ["the formatting of a prompt", { planner: { prompt: plannerPrompt({ text: "  Plan the\n  payment. " }) } }, "same"],
  [
    "the body of callbacks",
    {
      payment: { with: () => ({ order: "o-2", amountCents: 2 }), businessKey: () => "o-2" },
      approval: { show: () => ({}) },
    },
    "same",
  ],

  // What lies ahead of everybody.
  ["a version alone", { version: 8 }, "compatible"],
  ["a model's time limit", { planner: { timeout: 5_000 } }, "compatible"],
  ["a model's attempts and tokens", { planner: { attempts: 9, outputTokens: 9 } }, "compatible"],
  ["a tool's attempts and time limit", { payment: { tool: paymentTool({ attempts: 9, timeout: 9 }) } }, "compatible"],
  ["a tool's window", { payment: { tool: paymentTool({ downstream: byKey({ window: hours(1) }) }) } }, "compatible"],
  [
    "a lookup behind the window",
    { payment: { tool: paymentTool({ downstream: byKey({ window: hours(24), lookup }) }) } },
    "compatible",
  ],
  ["a precondition more", { payment: { precondition: () => true } }, "compatible"],
  [
    "a compensation more",
    { payment: { compensate: { tool: mailTool(), with: () => ({ to: "a", text: "b" }) } } },
    "compatible",
  ],
  ["a condition to be asked", { approval: { when: () => true } }, "compatible"],
  ["how long an answer is waited for", { approval: { validFor: hours(1) } }, "compatible"],
  ["where a stale decision leads", { approval: { onStale: "end" } }, "compatible"],
  [
    "a policy that may decide",
    { was: lowRisk, ...lowRisk, approval: { autoApprove: { policy: "small", when: () => true } } },
    "compatible",
  ],
  ["the limit of steps", { options: { stepsMax: 20 } }, "compatible"],
  ["a node behind the last one", { before: { end: note } }, "compatible"],

  // What a pending question was about.
  [
    "a prompt's release number",
    { planner: { prompt: plannerPrompt({ release: 2 }) } },
    "reapprove",
    "reapprove for runs at approval",
    "reapprove for runs past approval",
  ],
  [
    "who may approve",
    { approval: { approvers: { roles: ["finance"] } } },
    "reapprove",
    "reapprove for runs at approval",
    "reapprove for runs past approval",
  ],
  [
    "how many have to approve",
    { approval: { approvers: { quorum: 2 } } },
    "reapprove",
    "reapprove for runs at approval",
    "reapprove for runs past approval",
  ],
  [
    "what an answer relies on",
    { approval: { snapshot: () => 1 } },
    "reapprove",
    "reapprove for runs at approval",
    "reapprove for runs past approval",
  ],
  ["where a no leads", { approval: { onReject: "lookup" } }, "reapprove", "reapprove for runs at approval"],
  ["where no answer leads", { approval: { onExpire: "planner" } }, "reapprove", "reapprove for runs at approval"],

  // What is recorded.
  [
    "a prompt's words",
    { planner: { prompt: plannerPrompt({ text: "Plan well." }) } },
    "incompatible",
    "incompatible for runs past planner",
    "reapprove for runs at approval",
  ],
  [
    "a model",
    { planner: { model: "large" } },
    "incompatible",
    "incompatible for runs past planner",
    "reapprove for runs at approval",
  ],
  [
    "a model's answer",
    { planner: { output: Plan.extend({ why: z.number() }) } },
    "incompatible",
    "incompatible for runs past planner",
  ],
  [
    "a read tool's version",
    { lookup: { tool: lookupTool({ version: 2 }) } },
    "incompatible",
    "incompatible for runs past lookup",
  ],
  [
    "what a read tool takes",
    { lookup: { tool: lookupTool({ input: z.object({ id: z.number() }) }) } },
    "incompatible",
    "incompatible for runs past lookup",
  ],
  [
    "what a read tool gives",
    { lookup: { tool: lookupTool({ output: Order.extend({ open: z.boolean() }) }) } },
    "incompatible",
    "incompatible for runs past lookup",
  ],
  ["a write tool's version", { payment: { tool: paymentTool({ version: 4 }) } }, "incompatible", ...paymentChanged()],
  [
    "a write tool's semantic fields",
    { payment: { tool: paymentTool({ semanticFields: ["order"] }) } },
    "incompatible",
    ...paymentChanged(),
  ],
  [
    "what the other side can tell",
    { payment: { tool: paymentTool({ downstream: byQuery({ settle: minutes(2), lookup }) }) } },
    "incompatible",
    ...paymentChanged(),
  ],
  ["a write tool's risk", { payment: { tool: paymentTool({ risk: "low" }) } }, "incompatible", ...paymentChanged()],
  [
    "a write tool's scope",
    { payment: { tool: paymentTool({ scope: "workflow" }) } },
    "incompatible",
    ...paymentChanged(),
  ],
  ["a business key less", { payment: { businessKey: undefined } }, "incompatible", ...paymentChanged()],
  [
    "how a write is delivered",
    { notify: { tool: mailTool({ downstream: none({ delivery: "queue" }) }) } },
    "incompatible",
    "incompatible for runs at notify whose operation has begun",
  ],
  [
    "a node's kind",
    {
      without: ["lookup"],
      before: {
        approval: (b: Builder) => b.compute("lookup", { output: Order, run: () => ({ id: "o-1", paidCents: 1 }) }),
      },
    },
    "incompatible",
    "incompatible for runs past lookup",
  ],
  ["the input", { input: Ticket.extend({ currency: z.string() }) }, "incompatible", "incompatible for all open runs"],
  ["the agent's name", { name: "store" }, "incompatible", "incompatible for all open runs"],
  ["an older version", { version: 6 }, "incompatible", "incompatible for all open runs"],

  // The way.
  [
    "a node before the payment",
    { version: 8, before: { payment: riskCheck } },
    "incompatible",
    "incompatible for runs at approval",
    "incompatible for runs past approval",
  ],
  [
    "a node before the approval",
    { before: { approval: riskCheck } },
    "incompatible",
    "incompatible for runs past lookup",
  ],
  [
    "a node before the first",
    { before: { planner: note } },
    "incompatible",
    "incompatible for runs at planner",
    "incompatible for runs past planner",
  ],
  ["a node before the last", { before: { notify: note } }, "incompatible", "incompatible for runs past payment"],
  [
    "the last node less",
    { without: ["notify"] },
    "incompatible",
    "incompatible for runs at notify",
    "incompatible for runs at notify whose operation has begun",
    "incompatible for runs past notify",
  ],
  [
    "a node in the middle less",
    { without: ["lookup"] },
    "incompatible",
    "incompatible for runs at lookup",
    "incompatible for runs past lookup",
  ],
  [
    "a node's name",
    {
      without: ["lookup"],
      before: { approval: (b: Builder) => b.read("look", { tool: lookupTool(), with: () => ({ id: "o-1" }) }) },
    },
    "incompatible",
    "incompatible for runs at lookup",
    "incompatible for runs past lookup",
  ],
  [
    "the order of two nodes",
    {
      without: ["planner"],
      before: { approval: (b: Builder) => b.model("planner", { prompt: plannerPrompt(), output: Plan }) },
    },
    "incompatible",
    "incompatible for runs at planner",
    "incompatible for runs past lookup",
    "incompatible for runs past planner",
  ],
  [
    "the write that is approved",
    { approval: { of: "second" }, before: { end: second } },
    "incompatible",
    "incompatible for runs at approval",
    "incompatible for runs past approval",
  ],

  // With a way on.
  ["a version alone, with a migration", { version: 8, options: { migrations: [migration] } }, "migrate"],
  [
    "a node before the payment, with a migration",
    { version: 8, before: { payment: riskCheck }, options: { migrations: [migration] } },
    "migrate",
    "migrate for runs at approval",
    "migrate for runs past approval",
  ],
  [
    "a model's answer, with a migration",
    { version: 8, planner: { output: Plan.extend({ why: z.number() }) }, options: { migrations: [migration] } },
    "migrate",
    "migrate for runs past planner",
  ],
  [
    "a node less, with a migration that does not say where to go on",
    { version: 8, without: ["lookup"], options: { migrations: [migration] } },
    "incompatible",
    "incompatible for runs at lookup",
    "migrate for runs past lookup",
  ],
  [
    "a node less, with a migration that says where to go on",
    { version: 8, without: ["lookup"], options: { migrations: [{ ...migration, resumeAt: { lookup: "approval" } }] } },
    "migrate",
    "migrate for runs at lookup",
    "migrate for runs past lookup",
  ],
  [
    "a node before the payment, with a migration of another version",
    { version: 9, before: { payment: riskCheck }, options: { migrations: [migration] } },
    "incompatible",
    "incompatible for runs at approval",
    "incompatible for runs past approval",
  ],
];

function paymentChanged(): readonly string[] {
  return [
    "incompatible for runs at payment whose operation has begun",
    "incompatible for runs past payment",
    "reapprove for runs at approval",
    "reapprove for runs past approval",
  ];
}

/** One change to the agent of the story: what it comes to, and whom it hurts. Every expectation is written by hand. */
export const contractChanges = rows.map(([what, { was = {}, ...parts }, verdict, ...who]) => ({
  what,
  was,
  parts,
  verdict,
  who,
}));
