import { isCompensation } from "../agent/compensation.ts";
import type { State } from "../agent/node.ts";
import { Rejection } from "../approval/approval.ts";
import { unpackValue } from "../payloads/claim-check.ts";
import type { PayloadStore } from "../payloads/payload-store.ts";
import { Adoption, sinceAdoption } from "../runlog/adoption.ts";
import type { RunRecord } from "../runlog/run-record.ts";
import type { Step } from "../runlog/step.ts";

/** State is the fold of the log: `{ input, [node]: latest output, rejection? }`, or what a version made of it that took the run over. */
export interface Folded {
  readonly state: State;
  with(step: Step, output: unknown): Folded;
}

/** Folds recorded steps, in order of position. Reads only the payloads of the latest output of each node. What was undone stays seen. */
export async function foldState(run: RunRecord, recorded: readonly Step[], payloads: PayloadStore): Promise<Folded> {
  const { adoption, own } = sinceAdoption(recorded);
  const steps = own.filter((step) => !isCompensation(step.node));
  const latest = new Map(steps.map((step) => [foldKey(step), step]));
  const unpacked = new Map(
    await Promise.all([...latest].map(async ([key, step]) => [key, await unpackValue(payloads, step.output)] as const)),
  );
  let state: State = adoption
    ? Adoption.parse(await unpackValue(payloads, adoption.output)).state
    : { input: await unpackValue(payloads, run.input) };
  for (const step of steps) {
    // An older output of the same node is overwritten below anyway: its payload is not read.
    if (latest.get(foldKey(step)) === step) state = stateWith(state, step, unpacked.get(foldKey(step)));
  }
  return folded(state);
}

const foldKey = (step: Step): string => (step.outcome === "sent_back" ? `sent_back/${step.node}` : step.node);

const folded = (state: State): Folded => ({
  state,
  with: (step, output) => folded(stateWith(state, step, output)),
});

function stateWith(state: State, step: Step, output: unknown): State {
  if (step.outcome === "sent_back") return { ...state, rejection: Rejection.parse(output) };
  if (step.kind !== "approval") return { ...state, [step.node]: output };
  // Every answer settles who turned the run back last. So the latest ones alone decide, and a fold that skips older outputs agrees with one that saw them.
  const { rejection: _settled, ...rest } = state;
  const turnedBack = rejectionOf(step.node, output);
  return { ...rest, [step.node]: output, ...(turnedBack && { rejection: turnedBack }) };
}

function rejectionOf(node: string, output: unknown): Rejection | undefined {
  const { outcome, comment, by } = output as { outcome?: unknown; comment?: unknown; by?: unknown };
  if (outcome !== "rejected" && outcome !== "expired" && outcome !== "cancelled") return undefined;
  return {
    node,
    reason: outcome,
    ...(typeof comment === "string" && { comment }),
    ...(typeof by === "string" && { by }),
  };
}
