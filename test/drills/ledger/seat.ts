import type { WriteNode } from "../../../shared/agent/node.ts";
import { defineAgent } from "../../../shared/agent/define-agent.ts";
import { byKey, byQuery, type LookupAnswer, none, writeTool } from "../../../shared/agent/tool.ts";
import { type LedgerDrill, settleMs, toolTimeoutMs, windowMs } from "./drill-settings.ts";
import { OrderSchema, ReceiptSchema } from "./drilled-run.ts";
import type { Order, Receipt } from "./outside-world.ts";

/** Whoever calls the tool now. */
export interface Sitter {
  look(key: string): Promise<LookupAnswer<Receipt>>;
  call(request: Order, key: string, signal: AbortSignal): Promise<Receipt>;
}

/** A definition is costly to make and the same in every schedule; who calls its tool is not. */
export interface Seat {
  readonly node: WriteNode;
  taken: Sitter | undefined;
}

export function makeSeat(drill: LedgerDrill): Seat {
  const seated = (): Sitter => {
    if (!seat.taken) throw new Error("a tool was called and nobody sits there");
    return seat.taken;
  };
  const lookup = (_request: Order, key: string) => seated().look(key);
  const downstream = {
    key: byKey<Order, Receipt>({ window: windowMs, ...(drill.keyLookup && { lookup, settle: settleMs }) }),
    query: byQuery<Order, Receipt>({ settle: settleMs, lookup }),
    none: none(),
  }[drill.capability];
  const tool = writeTool("place_order", {
    version: 1,
    risk: "high",
    input: OrderSchema,
    output: ReceiptSchema,
    downstream,
    semanticFields: ["order", "amountCents"],
    externalRef: ({ ref }) => ref,
    timeout: toolTimeoutMs,
    execute: (request, { idempotencyKey, signal }) => seated().call(request, idempotencyKey, signal),
  });
  const agent = defineAgent("drilled", { version: 1, input: OrderSchema })
    .write("place", { tool, with: ({ input }) => input, businessKey: () => "ORD-1" })
    .end();
  const [node] = agent.nodes;
  if (node?.kind !== "write") throw new Error("the agent is one write");
  const seat: Seat = { node, taken: undefined };
  return seat;
}
