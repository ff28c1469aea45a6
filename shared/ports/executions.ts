import { Fault } from "../faults/fault.ts";

/** The states that a run began with are not there any more: somebody deleted that version. */
export class StatesMissing extends Fault {
  override readonly name = "StatesMissing";
  constructor(stateMachineArn: string) {
    super(
      "version_missing",
      "final",
      `the states ${stateMachineArn} are not there any more: that version was deleted, or its folder`,
      { facts: { state_machine_arn: stateMachineArn } },
    );
  }
}

/** The engine that runs executions. */
export interface Executions {
  /** Starts `name`. Starting the same name with the same input twice is harmless. @throws StatesMissing */
  start(stateMachineArn: string, name: string, input: Readonly<Record<string, string>>): Promise<void>;
}

/** `gone`: nobody waits on this token any more; the log decides at re-entry. */
export type WakeResult = "woken" | "gone";

/** Wakes a state that waits on a task token. The output is empty: whoever wakes reads the log. */
export interface Waker {
  succeed(taskToken: string): Promise<WakeResult>;
  fail(taskToken: string, error: string): Promise<WakeResult>;
}
