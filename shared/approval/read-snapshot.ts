import type { ApprovalNode, State } from "../agent/node.ts";
import { Fault } from "../faults/fault.ts";
import { boundedCall } from "../operation/bounded-call.ts";
import { canonicalJson } from "../operation/canonical-json.ts";
import type { Clock } from "../ports/clock.ts";

/** Longest the business data of one approval may take to read: a few look-ups, and a person waits for the page. */
export const snapshotTimeoutMs = 10_000;
/** Times it is tried when it is asked. It only reads. */
export const snapshotAttemptsMax = 3;

/** Business data that a decision relies on, as it is now: plain JSON. */
export interface Snapshot {
  readonly value: unknown;
}

/**
 * Reads the business data an approval declares; undefined where it declares none.
 * @throws Fault `snapshot_unreadable`, retryable: nothing was asked or sent on data that nobody could read. `not_json` for other values.
 */
export async function readSnapshot(
  node: ApprovalNode,
  state: State,
  deadlineMs: number,
  clock: Clock,
): Promise<Snapshot | undefined> {
  const read = node.snapshot;
  if (!read) return undefined;
  const end = await boundedCall(clock, Math.min(clock.nowMs() + snapshotTimeoutMs, deadlineMs), async () =>
    read(state),
  );
  // What is nothing is null in JSON.
  if (end.kind === "returned") return { value: JSON.parse(canonicalJson(end.value ?? null)) as unknown };
  const why =
    end.kind === "timed_out"
      ? "it gave no answer in time"
      : end.error instanceof Error
        ? end.error.message
        : "it threw";
  throw new Fault(
    "snapshot_unreadable",
    "retryable",
    `the snapshot of approval ${node.name} could not be read: ${why}`,
    {
      facts: { node: node.name },
      ...(end.kind === "threw" && { cause: end.error }),
    },
  );
}

/** Names of the members that differ, for whoever is asked again; undefined where the data are no objects. */
export function changedMembers(before: unknown, after: unknown): string | undefined {
  if (!isObject(before) || !isObject(after)) return undefined;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const text = (value: unknown) => canonicalJson(value ?? null);
  return names.filter((name) => text(before[name]) !== text(after[name])).join(", ");
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
