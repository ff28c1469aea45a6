import { z } from "zod";
import { double, type ToolDouble } from "../../../infra/in-process/double.ts";
import { Engine, type EngineOptions } from "../../../infra/in-process/engine.ts";
import {
  type Agent,
  byKey,
  byQuery,
  days,
  defineAgent,
  type Downstream,
  hours,
  minutes,
  none,
  type RunStatus,
  seconds,
  writeTool,
} from "../../../shared/index.ts";
import type { RunHistory } from "../../../shared/runlog/run-log.ts";

const Order = z.object({ order: z.string(), cents: z.number().int() });
const Receipt = z.object({ ref: z.string() });
type Order = z.infer<typeof Order>;
type Receipt = z.infer<typeof Receipt>;

const never = () => Promise.reject(new Error("the double answers in the tool's place"));

const sides = {
  key: byKey<Order, Receipt>({ window: hours(24) }),
  query: byQuery<Order, Receipt>({ settle: minutes(2), lookup: never }),
  none: none(),
  queue: none({ delivery: "queue" }),
  human: none({ delivery: "human" }),
} satisfies Record<string, Downstream<Order, Receipt>>;

const result = (_request: Order, { n }: { readonly n: number }) => ({ ref: `ref-${n}` });
const doubles: Readonly<Record<keyof typeof sides, ToolDouble>> = {
  key: double.key({ window: hours(24), result }),
  query: double.query({ result }),
  none: double.none({ result }),
  queue: double.none({ result }),
  human: double.none({ result }),
};

export interface OrderOptions {
  /** What the other side can tell, or who places the order. @default key */
  readonly side?: keyof typeof sides;
  /** A person is asked first. */
  readonly approval?: boolean;
}

/** Places one order and sums up, after a review where it is asked for. The tool has five seconds. */
export function orderAgent({ side = "key", approval = false }: OrderOptions = {}): Agent {
  const write = {
    tool: writeTool("place_order", {
      version: 1,
      risk: "high",
      input: Order,
      output: Receipt,
      timeout: seconds(5),
      downstream: sides[side],
      semanticFields: ["order", "cents"],
      externalRef: ({ ref }) => ref,
      resultOf: (ref) => ({ ref }),
      execute: never,
    }),
    with: ({ input }: { input: Order }) => input,
    businessKey: ({ input }: { input: Order }) => input.order,
  };
  const tally = {
    output: z.object({ text: z.string() }),
    run: ({ place }: { place: Receipt }) => ({ text: place.ref }),
  };
  const agent = defineAgent("order-agent", { version: 1, input: Order });
  if (!approval) return agent.write("place", write).compute("tally", tally).end();
  return agent
    .approval("review", {
      of: "place",
      show: ({ input }) => ({
        title: "Place the order",
        fields: [{ type: "money", label: "Amount", amount_cents: input.cents, currency: "EUR" }],
        on_approve: "It is placed.",
        on_reject: "Nothing happens.",
      }),
      validFor: days(7),
      onReject: "end",
    })
    .write("place", write)
    .compute("tally", tally)
    .end();
}

export const order = { order: "ORD-1", cents: 4_200 };

export interface OrderWorld {
  readonly engine: Engine;
  readonly runId: string;
  history(): Promise<RunHistory>;
  status(): Promise<RunStatus>;
  /** Keeps the world going until the run has this status. */
  untilStatus(status: RunStatus): Promise<void>;
  approve(): Promise<number>;
}

/** A world in which a run of the order agent has been started, and nothing has come of it yet. */
export async function orderWorld(
  options: OrderOptions & Partial<Omit<EngineOptions, "agents">> = {},
): Promise<OrderWorld> {
  const { side = "key", approval = false, ...given } = options;
  const engine = await Engine.start({
    agents: [orderAgent({ side, approval })],
    models: { answer: () => Promise.reject(new Error("no model is asked here")) },
    standIns: { place_order: doubles[side].make },
    ...given,
  });
  const start = () => engine.request("POST", "/runs", { agent: "order-agent", workflow_id: "task-1", input: order });
  let started = await start();
  // What a client does that was cut off.
  if (started.status >= 500) started = await start();
  const { run_id: runId } = started.body as { readonly run_id: string };
  const history = async () => {
    const found = await engine.stored.history(runId);
    if (!found) throw new Error(`the run was not started: ${JSON.stringify(started)}`);
    return found;
  };
  const status = async () => (await history()).run.status;
  return {
    engine,
    runId,
    history,
    status,
    async untilStatus(wanted) {
      const reached = await engine.until(async () => (await status()) === wanted);
      if (reached === "idle") throw new Error(`it stays ${await status()}\n${engine.trace.text()}`);
    },
    async approve() {
      const path = `/approvals/${runId}:0000.review`;
      return (await engine.request("POST", path, { decision: "approve", by: "kim" })).status;
    },
  };
}
