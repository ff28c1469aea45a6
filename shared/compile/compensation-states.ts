import { type CompensableNode, compensationOf } from "../agent/compensation.ts";
import { deliveryOf } from "../agent/tool.ts";
import { END } from "../runlog/step.ts";
import type { AslState, Catcher, ChoiceState } from "./asl.ts";
import type { CompileSettings } from "./compile-settings.ts";
import { COMPENSATE, FAILED } from "./lines.ts";
import { retryOfNodes } from "./retry-policy.ts";
import { resolveTask, settledNext, settleTask, stepTask } from "./tasks.ts";
import { wireError } from "./wire-errors.ts";

/** Their names have spaces, which lines' names have not. */
export const compensationState = {
  compensate: "Compensate operations",
  after: "After Compensate operations",
  resolve: "Resolve compensation",
  settle: "Settle compensation",
} as const;

/** States of the others that these lead to. */
export interface Ways {
  readonly done: string;
  readonly failed: string;
  readonly stopped: string;
  readonly lost: string;
}

/**
 * What an agent has beside its lines when it declares how writes are undone: one Task that undoes, the wait for whoever has an operation in
 * hand or in doubt, and a settling of its own. What stops there parks the run, and a resume goes on undoing.
 */
export function compensationStates(
  writes: readonly CompensableNode[],
  ways: Ways,
  settings: CompileSettings,
): Record<string, AslState> {
  const nodes = writes.flatMap((write) => [write, compensationOf(write)]);
  const stale: Catcher = { ErrorEquals: [wireError.stale], ResultPath: null, Next: ways.stopped };
  const catchFailure: readonly Catcher[] = [
    stale,
    { ErrorEquals: ["States.ALL"], ResultPath: "$.failure", Next: compensationState.settle },
  ];
  const awaited = nodes.flatMap(({ name, tool }) => [
    wireError.unknown(name),
    ...(deliveryOf(tool.downstream) === "direct" ? [] : [wireError.handedOut(name)]),
  ]);
  const undoing = nodes.filter((node) => node.compensate === undefined).map(({ name }) => name);
  return {
    [compensationState.compensate]: stepTask(
      { line: COMPENSATE, comment: `Undoes what has happened, latest first: ${undoing.join(", ")}` },
      settings,
      {
        Retry: retryOfNodes(nodes),
        Catch: [{ ErrorEquals: awaited, ResultPath: null, Next: compensationState.resolve }, ...catchFailure],
        way: { Next: compensationState.after },
      },
    ),
    [compensationState.after]: {
      Type: "Choice",
      Choices: [
        { Variable: "$.next", StringEquals: END, Next: ways.done },
        { Variable: "$.next", StringEquals: FAILED, Next: ways.failed },
      ],
      Default: ways.lost,
    },
    [compensationState.resolve]: resolveTask(COMPENSATE, settings, {
      Catch: catchFailure,
      Next: compensationState.compensate,
    }),
    [compensationState.settle]: settleTask(false, { Catch: [stale], Next: ways.failed }),
  };
}

/** After a failure was recorded: a run that fails for good is compensated first. */
export const afterSettle = (failed: string): ChoiceState => ({
  Type: "Choice",
  Choices: [{ Variable: settledNext, StringEquals: COMPENSATE, Next: compensationState.compensate }],
  Default: failed,
});
