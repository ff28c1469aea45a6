import type { StatesOf } from "./history-shape.ts";

/** Small definitions. Each function call carries the state's name, which is its key in a script, and the execution's. */

type States = Readonly<Record<string, object>>;

export const machine = (startAt: string, states: States): StatesOf & { readonly StartAt: string } => ({
  StartAt: startAt,
  States: states as StatesOf["States"], // a state is written as its JSON, which both interpreters check
});

export const one = (state: object, others: States = {}): ReturnType<typeof machine> =>
  machine("Only", { Only: state, ...others });

export const task = (name: string, fields: object = {}): object => ({
  Type: "Task",
  Resource: "arn:aws:states:::lambda:invoke",
  Parameters: { FunctionName: "${StepFunctionArn}", Payload: { state: name, ...passedOn } },
  ...("Next" in fields ? {} : { End: true }),
  ...fields,
});

export const callback = (name: string, fields: object = {}): object =>
  task(name, {
    Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
    Parameters: {
      FunctionName: "${WaitFunctionArn}",
      Payload: { state: name, ...passedOn, "task_token.$": "$$.Task.Token" },
    },
    ...fields,
  });

const passedOn = { "input.$": "$", "execution.$": "$$.Execution.Name" };

export const pass = (fields: object): object => ({
  Type: "Pass",
  ...("Next" in fields ? {} : { End: true }),
  ...fields,
});
