/** The part of Amazon States Language (JSONPath) that the compiler writes. */
export interface Retrier {
  readonly ErrorEquals: readonly string[];
  readonly IntervalSeconds?: number;
  readonly MaxAttempts: number;
  readonly BackoffRate?: number;
  readonly MaxDelaySeconds?: number;
  readonly JitterStrategy?: "FULL" | "NONE";
}

export interface Catcher {
  readonly ErrorEquals: readonly string[];
  readonly ResultPath?: string | null;
  readonly Next: string;
}

export interface TaskState {
  readonly Type: "Task";
  readonly Comment?: string;
  readonly Resource: string;
  readonly Parameters: { readonly FunctionName: string; readonly Payload: Readonly<Record<string, string>> };
  readonly ResultSelector?: Readonly<Record<string, string>>;
  readonly ResultPath?: string | null;
  readonly TimeoutSeconds: number;
  readonly Retry?: readonly Retrier[];
  readonly Catch?: readonly Catcher[];
  readonly Next?: string;
  readonly End?: true;
}

export interface ChoiceState {
  readonly Type: "Choice";
  readonly Comment?: string;
  readonly Choices: readonly { readonly Variable: string; readonly StringEquals: string; readonly Next: string }[];
  readonly Default: string;
}

export interface PassState {
  readonly Type: "Pass";
  readonly Comment?: string;
  readonly Result: Readonly<Record<string, string>>;
  readonly ResultPath: string;
  readonly Next: string;
}

export interface FailState {
  readonly Type: "Fail";
  readonly Error: string;
  readonly Cause: string;
}

export interface SucceedState {
  readonly Type: "Succeed";
  readonly Comment?: string;
}

export type AslState = TaskState | ChoiceState | PassState | FailState | SucceedState;

export interface StateMachineDefinition {
  readonly Comment: string;
  readonly StartAt: string;
  readonly States: Readonly<Record<string, AslState>>;
}

export const lambdaInvoke = "arn:aws:states:::lambda:invoke";
export const lambdaInvokeAndWait = "arn:aws:states:::lambda:invoke.waitForTaskToken";
