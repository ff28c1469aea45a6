import {
  ExecutionAlreadyExists,
  InvalidToken,
  SendTaskFailureCommand,
  SendTaskSuccessCommand,
  type SFNClient,
  StartExecutionCommand,
  StateMachineDoesNotExist,
  TaskDoesNotExist,
  TaskTimedOut,
} from "@aws-sdk/client-sfn";
import { type Executions, StatesMissing, type Waker, type WakeResult } from "../ports/executions.ts";

export function sfnExecutions(client: SFNClient): Executions {
  return {
    async start(stateMachineArn, name, input) {
      try {
        await client.send(new StartExecutionCommand({ stateMachineArn, name, input: JSON.stringify(input) }));
      } catch (error) {
        if (error instanceof StateMachineDoesNotExist) throw new StatesMissing(stateMachineArn);
        // The name is the run and its attempt: whoever was first started exactly this.
        if (!(error instanceof ExecutionAlreadyExists)) throw error;
      }
    },
  };
}

export function sfnWaker(client: SFNClient): Waker {
  const send = async (run: () => Promise<unknown>): Promise<WakeResult> => {
    try {
      await run();
      return "woken";
    } catch (error) {
      const gone = error instanceof TaskDoesNotExist || error instanceof TaskTimedOut || error instanceof InvalidToken;
      if (!gone) throw error;
      return "gone";
    }
  };
  return {
    succeed: (taskToken) => send(() => client.send(new SendTaskSuccessCommand({ taskToken, output: "{}" }))),
    fail: (taskToken, error) =>
      send(() => client.send(new SendTaskFailureCommand({ taskToken, error, cause: "the run log says more" }))),
  };
}
