import type { Actor } from "./actor.ts";
import { lostAnswer, notDone, throttled } from "./fault-errors.ts";
import type { FaultPlan, InjectedFault } from "./injected-fault.ts";
import type { AdmittedCall, PortCall } from "./port-call.ts";
import { outcomeOf, type Trace, type TraceEntry } from "./trace.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** How a call stands among the others while it lands. */
export interface Turn {
  /** Lets the others go on: from here on this call waits for time, or for them. */
  readonly handOver: () => void;
  /** It lands by itself, after its caller has given up. */
  readonly late: boolean;
}

/** A call with what carries it out. */
export interface GatedCall<T> extends PortCall {
  readonly land: (turn: Turn) => Promise<T>;
  /** How a finished call reads in the trace. @default ok */
  readonly outcome?: (value: T) => string;
  /** By which its caller ends it. */
  readonly signal?: AbortSignal;
  /** What a sender is told whose message never arrives. */
  readonly dropped?: T;
  /** Somebody else's code, which may wait for what no port knows of. */
  readonly foreign?: boolean;
}

interface Ticket {
  readonly actor: Actor;
  readonly call: GatedCall<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Present once it was admitted and held back. */
  readonly entry?: TraceEntry;
  readonly late?: boolean;
}

export interface SchedulerOptions {
  /** In [0, 1): who is next of those that wait. */
  readonly random: () => number;
  readonly clock: VirtualClock;
  readonly startMs: number;
  readonly trace: Trace;
  readonly faults: FaultPlan;
  /** Real milliseconds that foreign code may take before it counts as waiting for time to pass. */
  readonly foreignMsMax: number;
  /** Told of each call as its turn comes. */
  readonly onAdmitted: (call: AdmittedCall) => void;
}

/** The one gate through which every port call passes: one at a time, in the seed's order, each with the fault that is meant for it. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  #waiting: Ticket[] = [];

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Calls that wait for their turn. */
  get waiting(): number {
    return this.#waiting.filter(({ actor }) => !actor.process?.dead).length;
  }

  /** Settles with the call's end, never where its caller has died. */
  pass<T>(actor: Actor, call: GatedCall<T>): Promise<T> {
    if (actor.process?.dead) return new Promise<never>(() => undefined);
    return new Promise<T>((resolve, reject) => {
      if (actor.process) actor.process.pending++;
      const settled =
        <V>(settle: (value: V) => void) =>
        (value: V): void => {
          if (actor.process?.dead) return;
          if (actor.process) actor.process.pending--;
          settle(value);
        };
      // Erased: the ticket hands back to this very promise what this very call gave.
      this.#waiting.push({
        actor,
        call: call as GatedCall<unknown>,
        resolve: settled(resolve as (value: unknown) => void),
        reject: settled(reject),
      });
    });
  }

  /** Lets one call through and waits until it has landed or handed over. @returns false where nobody waits. */
  async admit(): Promise<boolean> {
    this.#waiting = this.#waiting.filter(({ actor }) => !actor.process?.dead);
    const [ticket] = this.#waiting.splice(Math.floor(this.#options.random() * this.#waiting.length), 1);
    if (ticket === undefined) return false;
    await new Promise<void>((handOver, reject) => {
      this.#go(ticket, handOver).then(handOver, reject);
    });
    return true;
  }

  async #go(ticket: Ticket, handOver: () => void): Promise<void> {
    const { actor, call } = ticket;
    const { trace, clock, startMs, faults, onAdmitted } = this.#options;
    if (ticket.entry) return this.#carryOut(ticket, ticket.entry, handOver);
    const entry = trace.open(call, actor, clock.now() - startMs);
    onAdmitted(entry);
    const fault = faults.take(entry);
    if (fault === undefined) return this.#carryOut(ticket, entry, handOver);
    trace.note(entry, { fault: fault.kind });
    return this.#strike(fault, ticket, entry, handOver);
  }

  async #carryOut(ticket: Ticket, entry: AdmittedCall, handOver: () => void): Promise<void> {
    this.#answer(ticket, entry, await this.#land(ticket, handOver));
  }

  async #strike(fault: InjectedFault, ticket: Ticket, entry: TraceEntry, handOver: () => void): Promise<void> {
    const { actor, call } = ticket;
    const { clock, trace } = this.#options;
    const refuse = (error: Error) => this.#answer(ticket, entry, { ok: false, error });
    switch (fault.kind) {
      case "crash_before":
        return actor.process?.die();
      case "crash_after":
        await this.#sent(ticket, handOver);
        return actor.process?.die();
      case "lost_ack":
        await this.#land(ticket, handOver);
        return refuse(lostAnswer(call.port));
      case "error":
        return refuse(notDone(call.port, fault.status));
      case "throttle":
        return refuse(throttled(call.port, fault.retryAfterSeconds));
      case "delay":
        return this.#holdBack(ticket, entry, fault.ms, handOver);
      case "zombie": {
        const deadlineMs = actor.process?.outlive() ?? clock.now();
        return this.#holdBack(ticket, entry, deadlineMs - clock.now() + fault.ms, handOver);
      }
      case "clock_jump":
        actor.process?.jump(fault.ms);
        return this.#carryOut(ticket, entry, handOver);
      case "duplicate": {
        const first = this.#land(ticket, handOver);
        // Two invocations run side by side, and the first one's answer counts; a repeated request follows, and its own answer counts.
        if (call.port === "lambda") void this.#land(ticket, handOver);
        else await first;
        return this.#answer(ticket, entry, await (call.port === "lambda" ? first : this.#land(ticket, handOver)));
      }
      case "drop":
        if ("dropped" in call) return this.#answer(ticket, entry, { ok: true, value: call.dropped });
        return call.port === "tool" ? this.#untilAborted(ticket, entry, handOver) : refuse(lostAnswer(call.port));
      case "slow": {
        const end = await this.#land(ticket, handOver);
        handOver();
        await Promise.race([clock.sleep(fault.ms), aborted(call.signal)]);
        return call.signal?.aborted ? refuse(call.signal.reason as Error) : this.#answer(ticket, entry, end);
      }
      case "late_commit":
        clock.set(() => this.#waiting.push(lateOf(ticket)), fault.ms);
        return this.#untilAborted(ticket, entry, handOver);
      case "hang":
        await this.#land(ticket, handOver);
        return trace.note(entry, { outcome: "no answer" });
      default:
        return fault satisfies never;
    }
  }

  /** Carries the call out. Never throws. */
  async #land({ call, late = false }: Ticket, handOver: () => void): Promise<End> {
    // Code that nobody here wrote may wait for its abort, which comes only once time goes on.
    const impatience = call.foreign ? setTimeout(handOver, this.#options.foreignMsMax) : undefined;
    try {
      return { ok: true, value: await call.land({ handOver, late }) };
    } catch (error) {
      return { ok: false, error };
    } finally {
      clearTimeout(impatience);
    }
  }

  /** Resolves once the call has landed, or has got so far that it goes on without its caller. */
  #sent(ticket: Ticket, handOver: () => void): Promise<void> {
    return new Promise((resolve) => {
      const sent = () => {
        handOver();
        resolve();
      };
      void this.#land(ticket, sent).then(sent);
    });
  }

  async #holdBack(ticket: Ticket, entry: TraceEntry, ms: number, handOver: () => void): Promise<void> {
    handOver();
    await this.#options.clock.sleep(ms);
    this.#waiting.push({ ...ticket, entry });
  }

  async #untilAborted(ticket: Ticket, entry: TraceEntry, handOver: () => void): Promise<void> {
    handOver();
    await aborted(ticket.call.signal);
    this.#answer(ticket, entry, { ok: false, error: ticket.call.signal?.reason });
  }

  #answer({ actor, call, resolve, reject }: Ticket, entry: AdmittedCall, end: End): void {
    if (actor.process?.dead) return;
    if (end.ok) {
      this.#options.trace.note(entry, { outcome: call.outcome?.(end.value) ?? "ok" });
      resolve(end.value);
    } else {
      this.#options.trace.note(entry, { outcome: outcomeOf(end.error) });
      reject(end.error);
    }
  }
}

type End = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

/** The request on its way without anybody who waits for it. */
const lateOf = ({ actor, call }: Ticket): Ticket => ({
  actor: { name: `on its way from ${actor.name}` },
  call,
  resolve: () => undefined,
  reject: () => undefined,
  late: true,
});

const aborted = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) resolve();
    else signal?.addEventListener("abort", () => resolve(), { once: true });
  });
