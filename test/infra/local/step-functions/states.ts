/** Small definitions, so that a test shows only the field it is about. */

export function oneState(state: object, others: Record<string, object> = {}): object {
  return { StartAt: "Only", States: { Only: state, ...others } };
}

export function task(fields: object = {}): object {
  return {
    Type: "Task",
    Resource: "arn:aws:states:::lambda:invoke",
    Parameters: { FunctionName: "step", Payload: { "input.$": "$" } },
    ...("Next" in fields ? {} : { End: true }),
    ...fields,
  };
}

export function callbackTask(fields: object = {}): object {
  return task({
    Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
    Parameters: { FunctionName: "wait", Payload: { "task_token.$": "$$.Task.Token" } },
    ...fields,
  });
}

export function tokenIn(payload: unknown): string {
  const token: unknown = (payload as { task_token?: unknown }).task_token;
  if (typeof token !== "string") throw new Error("expected a task_token in the payload");
  return token;
}
