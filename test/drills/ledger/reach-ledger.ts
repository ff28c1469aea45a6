import { createLedger } from "../../../shared/ledger/ledger.ts";
import type { LedgerStore } from "../../../shared/ledger/ledger-store.ts";
import type { Metrics } from "../../../shared/metrics/metrics.ts";
import type { OperationPorts } from "../../../shared/operation/operation-call.ts";
import type { Logger } from "../../../shared/ports/logger.ts";
import { type Actor, ConnectionLost } from "./actor.ts";
import { run } from "./drilled-run.ts";
import type { Stage } from "./stage.ts";

const noMetrics: Metrics = { add: () => undefined };
const noLogger: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** The ports of a life of `actor`: each call to the ledger is a step of its own, and each write may go wrong in its ways. */
export function portsOf(actor: Actor, stage: Stage): OperationPorts {
  const clock = {
    nowMs: () => stage.time.nowMs,
    after: (ms: number, fire: () => void) => stage.time.after(actor, ms, fire),
  };
  let ids = 0;
  // Named by what the actor has seen, so that equal histories have equal ids.
  const next = () => `${actor.name}-${actor.observations}-${ids++}`;
  return {
    ledger: createLedger({ store: gatedStore(actor, stage), clock, ids: { next } }),
    payloads: { put: () => Promise.resolve(), get: () => Promise.reject(new Error("nothing is that large")) },
    clock,
    metrics: noMetrics,
    logger: noLogger,
    readRun: () => Promise.resolve(run),
    endProcess: () => stage.crash(actor, "ended itself"),
    queue: { send: () => Promise.reject(new Error("nothing is queued")) },
  };
}

function gatedStore(actor: Actor, { store, crash }: Stage): LedgerStore {
  const write = <T>(call: string, perform: () => Promise<T>) =>
    actor.gate(call, ["ok", "crash_before", "crash_after", "lost_ack"], async (way) => {
      if (way === "crash_before") return crash(actor, way);
      const answer = await perform();
      if (way === "crash_after") return crash(actor, way);
      if (way === "lost_ack") throw new ConnectionLost("the acknowledgement was lost");
      return answer;
    });
  return {
    ...store,
    read: (id) => actor.gate("reads", ["ok"], () => store.read(id)),
    create: (entry) => write("creates", () => store.create(entry)),
    replace: (entry, expected) => write(`writes_${entry.status}`, () => store.replace(entry, expected)),
  };
}
