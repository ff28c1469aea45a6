import type { FaultKind, InjectedFault } from "../in-process/injected-fault.ts";

/** A fault at a call; `rival` begins a second execution of the run there, `sweep` a sweep beside it. */
export interface Strike {
  /** The call's number in its world, 1 for the first. */
  readonly call: number;
  readonly kind: FaultKind | "rival" | "sweep";
}

const minuteMs = 60_000;

/** Each kind in the size that hurts: past a tool's time, past an invocation's, past a lease. */
const standard: Readonly<Record<FaultKind, InjectedFault>> = {
  crash_before: { kind: "crash_before" },
  crash_after: { kind: "crash_after" },
  lost_ack: { kind: "lost_ack" },
  error: { kind: "error" },
  throttle: { kind: "throttle" },
  delay: { kind: "delay", ms: 3 * minuteMs },
  duplicate: { kind: "duplicate" },
  drop: { kind: "drop" },
  slow: { kind: "slow", ms: 3 * minuteMs },
  // Within every settle time that a tool's author may reasonably promise.
  late_commit: { kind: "late_commit", ms: 45_000 },
  hang: { kind: "hang" },
  zombie: { kind: "zombie", ms: 5_000 },
  clock_jump: { kind: "clock_jump", ms: 2 * minuteMs },
};

export const faultOf = (kind: FaultKind): InjectedFault => standard[kind];

export const strikesText = (strikes: readonly Strike[]): string =>
  strikes.length === 0 ? "clean" : strikes.map(({ call, kind }) => `${call}:${kind}`).join("+");

/** Reads what `strikesText` wrote. @throws RangeError that says what was expected. */
export function parseStrikes(text: string): readonly Strike[] {
  if (text === "clean") return [];
  return text.split("+").map((part) => {
    const [call = "", kind = ""] = part.split(":");
    const known = kind === "rival" || kind === "sweep" || Object.hasOwn(standard, kind);
    if (!/^[1-9]\d*$/.test(call) || !known) {
      const kinds = [...Object.keys(standard), "rival", "sweep"].join(", ");
      throw new RangeError(
        `expected clean or <call>:<fault>+…, e.g. 17:crash_after, found "${part}"; faults: ${kinds}`,
      );
    }
    return { call: Number(call), kind: kind as Strike["kind"] };
  });
}
