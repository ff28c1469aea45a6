import type { WriteNode } from "../../../shared/agent/node.ts";
import { isFault } from "../../../shared/faults/fault.ts";
import { ComeBackLater, OperationUnknown } from "../../../shared/faults/faults.ts";
import { Actor } from "./actor.ts";
import { invocationMs, type LedgerDrill, settleMs, windowMs } from "./drill-settings.ts";
import { theId } from "./drilled-run.ts";
import { execute, sweep } from "./enter-operation.ts";
import { judgeEnd, judgeRest } from "./judge-ledger.ts";
import { memoryLedgerStore } from "./memory-ledger-store.ts";
import { OutsideWorld } from "./outside-world.ts";
import { arrive, reachOutside } from "./reach-outside.ts";
import { makeSeat, type Seat } from "./seat.ts";
import type { Part, Stage } from "./stage.ts";
import { StageTime } from "./stage-time.ts";

/** Visits after which the sweep has found out whatever it ever will. */
const lastVisitsMax = 12;

/** One schedule: says what may happen next, and lets it happen. */
export class Scene implements Stage {
  readonly problems: string[] = [];
  readonly answers: string[] = [];
  readonly parts: Part[] = [];
  readonly drill: LedgerDrill;
  readonly world: OutsideWorld;
  readonly store = memoryLedgerStore();
  readonly time = new StageTime();
  readonly #seats: Map<string, Seat>;
  #faultsLeft: number;

  /** `seats` are handed from one schedule to the next. */
  constructor(drill: LedgerDrill, seats: Map<string, Seat>) {
    this.drill = drill;
    this.#seats = seats;
    this.#faultsLeft = drill.faultsMax;
    this.world = new OutsideWorld(drill.capability, windowMs);
    drill.entries.forEach((entries, n) => {
      const amountCents = drill.otherRequest && n === 1 ? 9_900 : 4_200;
      this.#add(`run${n + 1}`, entries, (actor) => execute(actor, this.#node(actor), amountCents, this));
    });
    for (let n = 0; n < drill.sweeps; n++) this.#add(`sweep${n + 1}`, 1, (actor) => this.#sweep(actor));
  }

  #add(name: string, entries: number, enter: (actor: Actor) => Promise<string>): Part {
    const actor = new Actor(name);
    const part = { actor, enter: () => enter(actor), left: entries, killedAtMs: 0, heard: false };
    this.parts.push(part);
    return part;
  }

  begin(): void {
    for (const part of this.parts) part.actor.standing = { kind: "asleep", untilMs: this.time.nowMs };
  }

  /** Everything the future depends on. */
  state(): string {
    return JSON.stringify([
      this.time.nowMs,
      this.#faultsLeft,
      this.store.peek(theId),
      this.world.state(),
      this.time.state(),
      this.parts.map(({ actor, left, killedAtMs, heard }) => [
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
    for (const { actor, left } of this.parts) {
      const { standing } = actor;
      if (standing.kind === "at_gate")
        ways.push(
          ...standing.ways
            .filter((way) => way === "ok" || this.#faultsLeft > 0)
            .map((way) => `${actor.name} ${standing.call} ${way}`),
        );
      const mayEnter = standing.kind === "asleep" && standing.untilMs <= this.time.nowMs && left > 0;
      if (mayEnter && !this.#waitsForTwin(actor)) ways.push(`${actor.name} enters`);
    }
    this.world.inFlight.forEach((_request, index) => ways.push(`request${index} arrives`));
    if (this.#nextMs() !== undefined) {
      ways.push("time passes");
      ways.push(...this.#couldOutlive().map(({ actor }) => `${actor.name} outlives_its_deadline`));
    }
    return ways;
  }

  /** Executors that ask for the same are twins: the second enters for the first time after the first, else every schedule is played twice. */
  #waitsForTwin(actor: Actor): boolean {
    const index = this.parts.findIndex((part) => part.actor === actor);
    const { entries, otherRequest } = this.drill;
    if (index === 0 || otherRequest || entries[index] !== entries[index - 1]) return false;
    return this.parts[index - 1]?.actor.observations === 0;
  }

  async take(way: string): Promise<void> {
    const [who = "", what = "", how = ""] = way.split(" ");
    if (way === "time passes") return this.#passTime();
    if (who.startsWith("request")) return this.#arrive(Number(who.slice("request".length)));
    const part = this.parts.find(({ actor }) => actor.name === who);
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
    part.killedAtMs = this.time.nowMs + invocationMs;
    part.heard = false;
    actor.observe(`enters at ${this.time.nowMs}`);
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

  #ended({ actor, heard }: Part, as: string): void {
    this.problems.push(...judgeEnd(actor, heard, this.store.peek(theId)));
    actor.life++;
    actor.stand({ kind: "done", as });
  }

  /** What the state machine would do: come back when told to, repeat what may be repeated, park the rest. */
  #failed({ actor, heard, left }: Part, error: unknown): void {
    this.problems.push(...judgeEnd(actor, heard, this.store.peek(theId)));
    actor.life++;
    const { nowMs } = this.time;
    const again = left > 0;
    if (error instanceof ComeBackLater && again)
      return actor.stand({ kind: "asleep", untilMs: Math.max(error.notBeforeMs ?? 0, nowMs) });
    const parks = error instanceof OperationUnknown || (isFault(error) && error.failureClass === "final");
    if (!parks && again) return actor.stand({ kind: "asleep", untilMs: nowMs });
    actor.stand({ kind: "done", as: isFault(error) ? error.code : String(error) });
  }

  /** The moment of whatever time brings next. */
  #nextMs(): number | undefined {
    const finite = (ms: number) => (Number.isFinite(ms) ? [ms] : []);
    const moments = [
      ...this.time.dueMs(),
      ...this.parts.flatMap(({ actor, killedAtMs, left }) =>
        actor.standing.kind === "at_gate"
          ? finite(killedAtMs)
          : actor.standing.kind === "asleep" && left > 0
            ? [actor.standing.untilMs]
            : [],
      ),
      ...this.world.inFlight.map(({ lostAtMs }) => lostAtMs),
    ].filter((ms) => ms > this.time.nowMs);
    return moments.length > 0 ? Math.min(...moments) : undefined;
  }

  /** Whoever the next moment kills, and could be spared. */
  #couldOutlive(): Part[] {
    if (!this.drill.zombies || this.#faultsLeft === 0) return [];
    const nextMs = this.#nextMs() ?? 0;
    return this.parts.filter(
      ({ actor: { standing }, killedAtMs }) =>
        standing.kind === "at_gate" && standing.call !== "sends" && killedAtMs <= nextMs,
    );
  }

  async #passTime(spared?: Part): Promise<void> {
    const nextMs = this.#nextMs();
    if (nextMs === undefined) throw new Error("time brings nothing");
    this.time.nowMs = nextMs;
    if (spared) spared.killedAtMs = Infinity;
    for (const { actor, killedAtMs } of this.parts)
      if (actor.standing.kind === "at_gate" && killedAtMs <= nextMs) this.#kill(actor, "deadline");
    await this.time.ring();
    const lost = this.world.inFlight.filter(({ lostAtMs }) => lostAtMs <= nextMs);
    for (const request of lost) this.world.inFlight.splice(this.world.inFlight.indexOf(request), 1);
  }

  #arrive(index: number): Promise<void> {
    const [request] = this.world.inFlight.splice(index, 1);
    if (request) arrive(request.key, request.request, this);
    return Promise.resolve();
  }

  #kill(actor: Actor, why: string): void {
    const part = this.parts.find((candidate) => candidate.actor === actor);
    actor.die(why);
    // The platform's own failure is repeated by the state machine.
    if (part && part.left > 0) actor.standing = { kind: "asleep", untilMs: this.time.nowMs };
  }

  readonly crash = (actor: Actor, why: string): never => {
    this.#kill(actor, why);
    throw new Error("died");
  };

  #node(actor: Actor): WriteNode {
    const seat = this.#seats.get(actor.name) ?? makeSeat(this.drill);
    this.#seats.set(actor.name, seat);
    seat.taken = reachOutside(actor, this);
    return seat.node;
  }

  #sweep(actor: Actor): Promise<string> {
    return sweep(actor, this.#node(actor), this);
  }

  /** Everybody has gone home: the sweep comes by until nothing changes. Then what is on record must be true. */
  async rest(): Promise<void> {
    for (let visit = 0; visit < lastVisitsMax && this.#isLoose(); visit++) {
      this.time.nowMs += settleMs + invocationMs;
      const part = this.#add(`last${visit}`, 1, (actor) => this.#sweep(actor));
      await this.#enter(part);
      while (part.actor.standing.kind === "at_gate") await part.actor.standing.go("ok");
    }
    this.problems.push(...judgeRest(this.store.peek(theId), this.world, this.answers, this.drill.capability));
  }

  /** Something the sweep would still look at with any hope. */
  #isLoose(): boolean {
    const status = this.store.peek(theId)?.status;
    return status === "STARTED" || (status === "UNKNOWN" && this.drill.capability === "query");
  }
}
