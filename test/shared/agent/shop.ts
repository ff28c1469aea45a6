import { z } from "zod";
import { type Agent, AgentDefinitionError, days, defineAgent } from "../../../shared/index.ts";
import { createRefundTool, emptyWorld, Plan, prompt, RefundRequest } from "../../builders/agents.ts";

/** Parts of small definitions, so that a test shows only what it is about. */
const world = emptyWorld();
export const start = (options: { readonly version?: number; readonly stepsMax?: number } = {}) =>
  defineAgent("shop", { version: 1, input: RefundRequest, ...options });
export const refund = { tool: createRefundTool(world), with: () => ({ paymentId: "pay_1", amountCents: 1 }) };
export const plan = { prompt: prompt("plan"), output: Plan };
export const count = { output: z.object({ n: z.number() }), run: () => ({ n: 1 }) };
export const asking = {
  show: () => ({
    title: "t",
    fields: [{ type: "text" as const, label: "l", text: "t" }],
    on_approve: "a",
    on_reject: "r",
  }),
  validFor: days(1),
  onReject: "end" as const,
};

/** Ends a definition that the types refuse already, as plain JavaScript would. */
export const endAnyway = (builder: { readonly end: (...check: never[]) => Agent }): Agent => builder.end();

/** What a refused definition says. */
export function problemOf(define: () => Agent): { readonly message: string; readonly facts: object } {
  try {
    define();
  } catch (error) {
    if (error instanceof AgentDefinitionError) return { message: error.message, facts: error.facts };
    throw error;
  }
  throw new Error("expected the definition to be refused");
}
