import type { LookupAnswer } from "../../../shared/agent/tool.ts";
import { type Actor, ConnectionLost } from "./actor.ts";
import { networkMs } from "./drill-settings.ts";
import { judgeSend } from "./judge-ledger.ts";
import type { Order, Receipt } from "./outside-world.ts";
import type { Sitter } from "./seat.ts";
import type { Stage } from "./stage.ts";

/** How `actor` reaches the other side: looking, sending and hearing are steps of their own, and each may go wrong in its ways. */
export const reachOutside = (actor: Actor, stage: Stage): Sitter => ({
  look: (key) => look(actor, key, stage),
  call(request, key, signal) {
    const life = actor.life;
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => life === actor.life && reject(signal.reason as Error));
    });
    return Promise.race([sendAndHear(actor, request, key, stage), aborted]);
  },
});

function look(actor: Actor, key: string, { crash, world }: Stage): Promise<LookupAnswer<Receipt>> {
  return actor.gate("looks", ["ok", "crash_before", "crash_after"], async (way) => {
    if (way === "crash_before") return crash(actor, way);
    const answer = world.lookup(key);
    return way === "crash_after" ? crash(actor, way) : answer;
  });
}

async function sendAndHear(actor: Actor, request: Order, key: string, stage: Stage): Promise<Receipt> {
  const { crash, world } = stage;
  await actor.gate("sends", ["ok", "crash_before", "crash_after", "late", "refused"], async (way) => {
    if (way === "crash_before") return crash(actor, way);
    if (way === "refused") throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    world.requests++;
    stage.problems.push(...judgeSend(actor, stage.store.peek(key), world.requests, stage.drill.capability));
    if (way === "late") {
      world.inFlight.push({ key, request, lostAtMs: stage.time.nowMs + networkMs });
      throw new ConnectionLost("the answer was lost");
    }
    arrive(key, request, stage);
    return way === "crash_after" ? crash(actor, way) : undefined;
  });
  return actor.gate("hears", ["ok", "crash_before", "dropped"], async (way) => {
    if (way === "crash_before") return crash(actor, way);
    if (way === "dropped") throw new ConnectionLost("the answer was lost");
    return world.effects.findLast((effect) => effect.key === key)?.receipt as Receipt;
  });
}

/** A request reaches the other side. */
export function arrive(key: string, request: Order, { world, time, problems }: Stage): void {
  const before = world.effects.length;
  world.arrive(key, request, time.nowMs);
  if (world.effects.length > Math.max(1, before)) problems.push("the effect happened twice");
}
