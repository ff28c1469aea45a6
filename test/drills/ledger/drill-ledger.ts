import { z } from "zod";
import { defineAgent } from "../../../shared/agent/define-agent.ts";
import type { WriteNode } from "../../../shared/agent/node.ts";
import { byKey, byQuery, type LookupAnswer, none, writeTool } from "../../../shared/agent/tool.ts";
import { isFault } from "../../../shared/faults/fault.ts";
import { ComeBackLater, OperationConflict, OperationUnknown } from "../../../shared/faults/faults.ts";
import { createLedger } from "../../../shared/ledger/ledger.ts";
import type { Capability, LedgerEntry } from "../../../shared/ledger/ledger-entry.ts";
import type { LedgerStore } from "../../../shared/ledger/ledger-store.ts";
import type { Metrics } from "../../../shared/metrics/metrics.ts";
import type { OperationCall, OperationPorts } from "../../../shared/operation/operation-call.ts";
import { operationId } from "../../../shared/operation/operation-id.ts";
import { runOperation } from "../../../shared/operation/run-operation.ts";
import type { Logger } from "../../../shared/ports/logger.ts";
import { reconcileOperation } from "../../../shared/run/reconcile-operation.ts";
import type { NodePorts } from "../../../shared/run/ports.ts";
import { positionAt } from "../../../shared/runlog/position.ts";
import { RunId, type RunRecord } from "../../../shared/runlog/run-record.ts";
import { Actor, ConnectionLost } from "./actor.ts";
import { type Exploration, exploreSchedules, type Play } from "./explore-schedules.ts";
import { memoryLedgerStore } from "./memory-ledger-store.ts";
import { type Order, OutsideWorld, type Receipt } from "./outside-world.ts";

export interface LedgerDrill {
  readonly capability: Capability;
  /** Gives a keyed tool a lookup beside its key. */
  readonly keyLookup?: boolean;
  /** What may go wrong in one schedule, all actors together: crashes, lost acknowledgements, dropped answers, late arrivals. */
  readonly faultsMax: number;
  /** How often each executor of the same operation may enter it. */
  readonly entries: readonly number[];
  readonly sweeps: number;
  /** The second executor asks for another amount under the same business key. */
  readonly otherRequest?: boolean;
  /**
   * A process may outlive its deadline where it waits for the ledger, as a frozen one that is thawed does; it costs a fault. Not between
   * its last look at the clock and the send: that gap is closed by the kill alone.
   */
  readonly zombies?: boolean;
  readonly schedulesMax?: number;
  readonly violationsMax?: number;
}

const startMs = Date.UTC(2026, 8, 2, 12, 0, 0);
const invocationMs = 30_000;
const toolTimeoutMs = 10_000;
/** How long the network may hold a request that was sent. Shorter than the settle time, as the tool's author promises. */
const networkMs = 20_000;
const settleMs = 60_000;
/** Short, so that schedules pass its end. */
const windowMs = 100_000;

const runId = RunId.parse("drill-1");
const theId = operationId(runId, "place", "ORD-1");
const OrderSchema = z.object({ order: z.string(), amountCents: z.number().int() });
const ReceiptSchema = z.object({ ref: z.string(), amountCents: z.number().int() });

const run: RunRecord = {
  run_id: runId,
  agent: "drilled",
  workflow_id: "drill",
  workflow_version: 1,
  contract_digest: "digest",
  checkpoint_schema_version: 1,
  status: "RUNNING",
  input: { json: "{}" },
  input_digest: "digest",
  entry: "place",
  state_machine_arn: "arn:aws:states:us-east-1:000000000000:stateMachine:drilled",
  execution: `${runId}-1`,
  execution_attempt: 1,
  created_at: new Date(startMs).toISOString(),
  updated_at: new Date(startMs).toISOString(),
  write_id: "w",
};

const noMetrics: Metrics = { add: () => undefined };
const noLogger: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * Every way in which executors of one operation and the sweep can meet, with every fault that the budget allows at every call, through
 * the real protocol. Judged by what arrived outside.
 */
export const drillLedger = (drill: LedgerDrill): Promise<Exploration> =>
  exploreSchedules(playOf(drill), {
    schedulesMax: drill.schedulesMax ?? Infinity,
    violationsMax: drill.violationsMax ?? 1,
  });

export function playOf(drill: LedgerDrill): Play {
  const seats = new Map<string, Seat>();
  return async (choose, seen) => {
    const scene = new Scene(drill, seats);
    scene.begin();
    for (;;) {
      seen(scene.state());
      const ways = scene.ways();
      if (ways.length === 0) break;
      await scene.take(ways.length === 1 ? (ways[0] as string) : choose(ways));
      if (scene.problems.length > 0) return scene.problems;
    }
    await scene.rest();
    return scene.problems;
  };
}

/** A definition is costly to make and the same in every schedule; who calls its tool is not. */
interface Seat {
  readonly node: WriteNode;
  taken: { readonly scene: Scene; readonly actor: Actor } | undefined;
}

/** An actor, how it enters, and what is left of its time. */
interface Part {
  readonly actor: Actor;
  readonly enter: () => Promise<string>;
  left: number;
  killedAtMs: number;
  /** The other side's yes was heard in this life, and nothing went wrong since. */
  heard: boolean;
}

class Scene {
  readonly problems: string[] = [];
  readonly #drill: LedgerDrill;
  readonly #world: OutsideWorld;
  readonly #store = memoryLedgerStore();
  readonly #actors: Part[] = [];
  readonly #answers: string[] = [];
  #timers: { readonly dueMs: number; readonly run: () => void; readonly of: Actor; readonly life: number }[] = [];
  #nowMs = startMs;
  #faultsLeft: number;

  readonly #seats: Map<string, Seat>;

  constructor(drill: LedgerDrill, seats: Map<string, Seat>) {
    this.#drill = drill;
    this.#seats = seats;
    this.#faultsLeft = drill.faultsMax;
    this.#world = new OutsideWorld(drill.capability, windowMs);
    drill.entries.forEach((entries, n) => {
      const amountCents = drill.otherRequest && n === 1 ? 9_900 : 4_200;
      this.#add(`run${n + 1}`, entries, (actor) => this.#execute(actor, amountCents));
    });
    for (let n = 0; n < drill.sweeps; n++) this.#add(`sweep${n + 1}`, 1, (actor) => this.#sweep(actor));
  }

  #add(name: string, entries: number, enter: (actor: Actor) => Promise<string>): void {
    const actor = new Actor(name);
    this.#actors.push({ actor, enter: () => enter(actor), left: entries, killedAtMs: 0, heard: false });
  }

  begin(): void {
    for (const part of this.#actors) part.actor.standing = { kind: "asleep", untilMs: this.#nowMs };
  }

  /** Everything the future depends on. */
  state(): string {
    return JSON.stringify([
      this.#nowMs,
      this.#faultsLeft,
      this.#store.peek(theId),
      this.#world.state(),
      this.#timers.map(({ dueMs, of }) => [dueMs, of.name]),
      this.#actors.map(({ actor, left, killedAtMs, heard }) => [
        actor.name,
        left,
        killedAtMs,
        heard,
        actor.history,
        actor.standing,
      ]),
    ]);
  }

  /** What may happen next, by name. */
  ways(): string[] {
    const ways: string[] = [];
    for (const { actor, left } of this.#actors) {
      const { standing } = actor;
      if (standing.kind === "at_gate")
        ways.push(
          ...standing.ways
            .filter((way) => way === "ok" || this.#faultsLeft > 0)
            .map((way) => `${actor.name} ${standing.call} ${way}`),
        );
      const mayEnter = standing.kind === "asleep" && standing.untilMs <= this.#nowMs && left > 0;
      if (mayEnter && !this.#waitsForTwin(actor)) ways.push(`${actor.name} enters`);
    }
    this.#world.inFlight.forEach((_request, index) => ways.push(`request${index} arrives`));
    if (this.#nextMs() !== undefined) {
      ways.push("time passes");
      ways.push(...this.#couldOutlive().map(({ actor }) => `${actor.name} outlives_its_deadline`));
    }
    return ways;
  }

  /** Executors that ask for the same are twins: the second enters for the first time after the first, else every schedule is played twice. */
  #waitsForTwin(actor: Actor): boolean {
    const index = this.#actors.findIndex((part) => part.actor === actor);
    const { entries, otherRequest } = this.#drill;
    if (index === 0 || otherRequest || entries[index] !== entries[index - 1]) return false;
    return this.#actors[index - 1]?.actor.observations === 0;
  }

  async take(way: string): Promise<void> {
    const [who = "", what = "", how = ""] = way.split(" ");
    if (way === "time passes") return this.#passTime();
    if (who.startsWith("request")) return this.#arrive(Number(who.slice("request".length)));
    const part = this.#actors.find(({ actor }) => actor.name === who);
    if (!part) throw new Error(`nobody is called ${who}`);
    if (what === "enters") return this.#enter(part);
    if (what === "outlives_its_deadline") {
      this.#faultsLeft--;
      return this.#passTime(part);
    }
    if (part.actor.standing.kind !== "at_gate") throw new Error(`${who} is not at ${what}`);
    if (how !== "ok") {
      this.#faultsLeft--;
      part.heard = false;
    }
    if (what === "hears" && how === "ok") part.heard = true;
    await part.actor.standing.go(how);
  }

  async #enter(part: Part): Promise<void> {
    const { actor } = part;
    const life = actor.life;
    part.left--;
    part.killedAtMs = this.#nowMs + invocationMs;
    part.heard = false;
    actor.observe(`enters at ${this.#nowMs}`);
    await actor.until(() => {
      part.enter().then(
        (as) => {
          if (life === actor.life) this.#ended(part, as);
        },
        (error: unknown) => {
          if (life === actor.life) this.#failed(part, error);
        },
      );
    });
  }

  #ended(part: Part, as: string): void {
    this.#keeps(part);
    part.actor.life++;
    part.actor.stand({ kind: "done", as });
  }

  /** A success always counts: whoever heard it and lived to the end has it on record, whatever was decided meanwhile. */
  #keeps({ actor, heard }: Part): void {
    const status = this.#store.peek(theId)?.status;
    if (heard && status !== "SUCCEEDED")
      this.problems.push(`${actor.name} heard of the success, and the record says ${status ?? "nothing"}`);
  }

  /** What the state machine would do: come back when told to, repeat what may be repeated, park the rest. */
  #failed(part: Part, error: unknown): void {
    this.#keeps(part);
    part.actor.life++;
    const again = part.left > 0;
    if (error instanceof ComeBackLater && again)
      return part.actor.stand({ kind: "asleep", untilMs: Math.max(error.notBeforeMs ?? 0, this.#nowMs) });
    const parks = error instanceof OperationUnknown || (isFault(error) && error.failureClass === "final");
    if (!parks && again) return part.actor.stand({ kind: "asleep", untilMs: this.#nowMs });
    part.actor.stand({ kind: "done", as: isFault(error) ? error.code : String(error) });
  }

  /** The moment of whatever time brings next. */
  #nextMs(): number | undefined {
    const finite = (ms: number) => (Number.isFinite(ms) ? [ms] : []);
    const moments = [
      ...this.#timers.filter(({ of, life }) => of.life === life).map(({ dueMs }) => dueMs),
      ...this.#actors.flatMap(({ actor, killedAtMs, left }) =>
        actor.standing.kind === "at_gate"
          ? finite(killedAtMs)
          : actor.standing.kind === "asleep" && left > 0
            ? [actor.standing.untilMs]
            : [],
      ),
      ...this.#world.inFlight.map(({ lostAtMs }) => lostAtMs),
    ].filter((ms) => ms > this.#nowMs);
    return moments.length > 0 ? Math.min(...moments) : undefined;
  }

  /** Whoever the next moment kills, and could be spared. */
  #couldOutlive(): Part[] {
    if (!this.#drill.zombies || this.#faultsLeft === 0) return [];
    const nextMs = this.#nextMs() ?? 0;
    return this.#actors.filter(
      ({ actor: { standing }, killedAtMs }) =>
        standing.kind === "at_gate" && standing.call !== "sends" && killedAtMs <= nextMs,
    );
  }

  async #passTime(spared?: Part): Promise<void> {
    const nextMs = this.#nextMs();
    if (nextMs === undefined) throw new Error("time brings nothing");
    this.#nowMs = nextMs;
    if (spared) spared.killedAtMs = Infinity;
    for (const { actor, killedAtMs } of this.#actors)
      if (actor.standing.kind === "at_gate" && killedAtMs <= nextMs) this.#kill(actor, "deadline");
    const due = this.#timers.filter(({ dueMs }) => dueMs <= nextMs);
    this.#timers = this.#timers.filter(({ dueMs }) => dueMs > nextMs);
    for (const timer of due)
      if (timer.of.life === timer.life) {
        timer.of.observe(`time is up at ${nextMs}`);
        timer.run();
        // Everything that follows of it are microtasks; whoever ignores the abort stays where it is.
        await new Promise((drained) => setImmediate(drained));
      }
    const lost = this.#world.inFlight.filter(({ lostAtMs }) => lostAtMs <= nextMs);
    for (const request of lost) this.#world.inFlight.splice(this.#world.inFlight.indexOf(request), 1);
  }

  #arrive(index: number): Promise<void> {
    const [request] = this.#world.inFlight.splice(index, 1);
    if (request) this.#effect(request.key, request.request);
    return Promise.resolve();
  }

  #kill(actor: Actor, why: string): void {
    const part = this.#actors.find((candidate) => candidate.actor === actor);
    actor.die(why);
    // The platform's own failure is repeated by the state machine.
    if (part && part.left > 0) actor.standing = { kind: "asleep", untilMs: this.#nowMs };
  }

  #effect(key: string, request: Order): Receipt {
    const before = this.#world.effects.length;
    const receipt = this.#world.arrive(key, request, this.#nowMs);
    if (this.#world.effects.length > Math.max(1, before)) this.problems.push("the effect happened twice");
    return receipt;
  }

  #node(actor: Actor): WriteNode {
    const seat = this.#seats.get(actor.name) ?? makeSeat(this.#drill);
    this.#seats.set(actor.name, seat);
    seat.taken = { scene: this, actor };
    return seat.node;
  }

  look(actor: Actor, key: string): Promise<LookupAnswer<Receipt>> {
    return actor.gate("looks", ["ok", "crash_before", "crash_after"], async (way) => {
      if (way === "crash_before") return this.#crash(actor, way);
      const answer = this.#world.lookup(key);
      return way === "crash_after" ? this.#crash(actor, way) : answer;
    });
  }

  call(actor: Actor, request: Order, key: string, signal: AbortSignal): Promise<Receipt> {
    const life = actor.life;
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => life === actor.life && reject(signal.reason as Error));
    });
    return Promise.race([this.#sendAndHear(actor, request, key), aborted]);
  }

  async #sendAndHear(actor: Actor, request: Order, key: string): Promise<Receipt> {
    await actor.gate("sends", ["ok", "crash_before", "crash_after", "late", "refused"], async (way) => {
      if (way === "crash_before") return this.#crash(actor, way);
      if (way === "refused") throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
      this.#sent(actor, key);
      if (way === "late") {
        this.#world.inFlight.push({ key, request, lostAtMs: this.#nowMs + networkMs });
        throw new ConnectionLost("the answer was lost");
      }
      this.#effect(key, request);
      return way === "crash_after" ? this.#crash(actor, way) : undefined;
    });
    return actor.gate("hears", ["ok", "crash_before", "dropped"], async (way) => {
      if (way === "crash_before") return this.#crash(actor, way);
      if (way === "dropped") throw new ConnectionLost("the answer was lost");
      return this.#world.effects.findLast((effect) => effect.key === key)?.receipt as Receipt;
    });
  }

  /** Judged at the moment of sending: what the ledger says then is what a later reader would have found. */
  #sent(actor: Actor, key: string): void {
    this.#world.requests++;
    const entry = this.#store.peek(key);
    const own = entry?.attempt_token?.startsWith(`${actor.name}-`) === true;
    // A late success of an earlier attempt may arrive between the claim and the send: the same key is then deduped outside.
    const lateSuccess = entry?.status === "SUCCEEDED" && own && this.#drill.capability === "key";
    if (entry?.status !== "STARTED" && !lateSuccess)
      this.problems.push(`sent while the ledger said ${entry?.status ?? "nothing"}`);
    else if (this.#world.requests > entry.attempt)
      this.problems.push(`request ${this.#world.requests} was sent, ${entry.attempt} attempts are on record`);
    else if (!own) this.problems.push(`${actor.name} sent, and the attempt on record is another's`);
  }

  #crash(actor: Actor, why: string): never {
    this.#kill(actor, why);
    throw new Error("died");
  }

  #storeOf(actor: Actor): LedgerStore {
    const write = <T>(call: string, perform: () => Promise<T>) =>
      actor.gate(call, ["ok", "crash_before", "crash_after", "lost_ack"], async (way) => {
        if (way === "crash_before") return this.#crash(actor, way);
        const answer = await perform();
        if (way === "crash_after") return this.#crash(actor, way);
        if (way === "lost_ack") throw new ConnectionLost("the acknowledgement was lost");
        return answer;
      });
    return {
      ...this.#store,
      read: (id) => actor.gate("reads", ["ok"], () => this.#store.read(id)),
      create: (entry) => write("creates", () => this.#store.create(entry)),
      replace: (entry, expected) => write(`writes_${entry.status}`, () => this.#store.replace(entry, expected)),
    };
  }

  #ports(actor: Actor): OperationPorts {
    const clock = {
      nowMs: () => this.#nowMs,
      after: (ms: number, fire: () => void) => {
        const timer = { dueMs: this.#nowMs + ms, run: fire, of: actor, life: actor.life };
        this.#timers.push(timer);
        return () => {
          this.#timers = this.#timers.filter((other) => other !== timer);
        };
      },
    };
    let ids = 0;
    // Named by what the actor has seen, so that equal histories have equal ids.
    const next = () => `${actor.name}-${actor.observations}-${ids++}`;
    return {
      ledger: createLedger({ store: this.#storeOf(actor), clock, ids: { next } }),
      payloads: { put: () => Promise.resolve(), get: () => Promise.reject(new Error("nothing is that large")) },
      clock,
      metrics: noMetrics,
      logger: noLogger,
      readRun: () => Promise.resolve(run),
      endProcess: () => this.#crash(actor, "ended itself"),
      queue: { send: () => Promise.reject(new Error("nothing is queued")) },
    };
  }

  async #execute(actor: Actor, amountCents: number): Promise<string> {
    const part = this.#actors.find((candidate) => candidate.actor === actor);
    const call: OperationCall = {
      run,
      node: this.#node(actor),
      position: positionAt(0, "place"),
      state: { input: { order: "ORD-1", amountCents } },
      approvals: [],
      guarded: false,
      killedAtMs: part?.killedAtMs ?? 0,
      dispatcher: "run",
      functionArn: undefined,
    };
    try {
      const result = await runOperation(call, this.#ports(actor));
      const answer = JSON.stringify(result.output);
      if (answer.includes(String(amountCents)) === false)
        this.problems.push(`${actor.name} asked for ${amountCents} and was answered ${answer}`);
      this.#answers.push(answer);
      if (this.#store.peek(theId)?.status !== "SUCCEEDED")
        this.problems.push(`${actor.name} was told of a success that is not on record`);
      return "succeeded";
    } catch (error) {
      if (error instanceof OperationConflict) return "conflict";
      throw error;
    }
  }

  async #sweep(actor: Actor): Promise<string> {
    const part = this.#actors.find((candidate) => candidate.actor === actor);
    const ports = this.#ports(actor);
    const node = this.#node(actor);
    const nodePorts = { ...ports, log: { readRun: ports.readRun } } as unknown as NodePorts;
    const agent = { name: "drilled", version: 1, input: OrderSchema, stepsMax: 10, nodes: [node] };
    return reconcileOperation(
      agent,
      { operationId: theId, killedAtMs: part?.killedAtMs ?? 0, functionArn: undefined },
      nodePorts,
    );
  }

  /** Everybody has gone home: the sweep comes by until nothing changes. Then what is on record must be true. */
  async rest(): Promise<void> {
    for (let visit = 0; visit < 12 && this.#isLoose(); visit++) {
      this.#nowMs += settleMs + invocationMs;
      const name = `last${visit}`;
      const actor = new Actor(name);
      const part = { actor, enter: () => this.#sweep(actor), left: 1, killedAtMs: 0, heard: false };
      this.#actors.push(part);
      await this.#enter(part);
      while (actor.standing.kind === "at_gate") await actor.standing.go("ok");
    }
    this.#judge(this.#store.peek(theId));
  }

  /** Something the sweep would still look at with any hope. */
  #isLoose(): boolean {
    const status = this.#store.peek(theId)?.status;
    return status === "STARTED" || (status === "UNKNOWN" && this.#drill.capability === "query");
  }

  #judge(entry: LedgerEntry | undefined): void {
    const { effects } = this.#world;
    const happened = effects.length;
    if (happened > 1) this.problems.push(`${happened} effects`);
    if (new Set(this.#answers).size > 1) this.problems.push(`different answers: ${this.#answers.join(" and ")}`);
    if (!entry) {
      if (happened > 0) this.problems.push("an effect without a record");
      return;
    }
    if (entry.status === "STARTED") this.problems.push("nobody ever finds out: it is STARTED for good");
    const denied = ["PENDING", "FAILED_RETRYABLE", "FAILED_FINAL"].includes(entry.status);
    if (denied && happened > 0) this.problems.push(`${entry.status}, and it happened`);
    if (entry.status === "SUCCEEDED" && happened === 0) this.problems.push("SUCCEEDED, and it did not happen");
    const [first] = effects;
    if (entry.status === "SUCCEEDED" && first && entry.external_ref !== first.receipt.ref)
      this.problems.push(`recorded as ${String(entry.external_ref)}, happened as ${first.receipt.ref}`);
    if (entry.status === "UNKNOWN" && this.#drill.capability === "query" && happened > 0)
      this.problems.push("UNKNOWN for good, though the other side would say that it happened");
  }
}

function makeSeat(drill: LedgerDrill): Seat {
  const seated = (): { readonly scene: Scene; readonly actor: Actor } => {
    if (!seat.taken) throw new Error("a tool was called and nobody sits there");
    return seat.taken;
  };
  const lookup = (_request: Order, key: string) => seated().scene.look(seated().actor, key);
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
    execute: (request, { idempotencyKey, signal }) =>
      seated().scene.call(seated().actor, request, idempotencyKey, signal),
  });
  const agent = defineAgent("drilled", { version: 1, input: OrderSchema })
    .write("place", { tool, with: ({ input }) => input, businessKey: () => "ORD-1" })
    .end();
  const [node] = agent.nodes;
  if (node?.kind !== "write") throw new Error("the agent is one write");
  const seat: Seat = { node, taken: undefined };
  return seat;
}
