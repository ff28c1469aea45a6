import type { FaultReport } from "./lambda-protocol.ts";

export type InvokeResult =
  | { readonly ok: true; readonly payload: unknown }
  | { readonly ok: false; readonly error: string; readonly cause: string };

export type InvokeFailure = Extract<InvokeResult, { ok: false }>;

/** What a state machine sees of a function that threw: its `error.name`, and the report as JSON. */
export function functionFailed({ errorType, errorMessage, trace }: FaultReport): InvokeFailure {
  return { ok: false, error: errorType, cause: JSON.stringify({ errorType, errorMessage, trace }) };
}

export function timedOut(requestId: string, timeoutMs: number): InvokeFailure {
  const errorMessage = `RequestId: ${requestId} Error: Task timed out after ${(timeoutMs / 1000).toFixed(2)} seconds`;
  return {
    ok: false,
    error: "Sandbox.Timedout",
    cause: JSON.stringify({ errorType: "Sandbox.Timedout", errorMessage }),
  };
}

/** The process ended before it answered: killed, out of memory, or `process.exit` in the handler. */
export function exited(requestId: string, code: number | null, signal: NodeJS.Signals | null): InvokeFailure {
  const how =
    signal !== null
      ? `Runtime exited with error: signal: ${signalWords[signal] ?? signal.slice(3).toLowerCase()}`
      : code === 0
        ? "Runtime exited without providing a reason"
        : `Runtime exited with error: exit status ${code}`;
  const errorMessage = `RequestId: ${requestId} Error: ${how}`;
  return {
    ok: false,
    error: "Runtime.ExitError",
    cause: JSON.stringify({ errorType: "Runtime.ExitError", errorMessage }),
  };
}

/** Refused by the service, so no function ran. Step Functions names these `Lambda.<exception>`. */
export function refused(exception: LambdaException, message: string): InvokeFailure {
  return { ok: false, error: `Lambda.${exception}`, cause: message };
}

/** Exceptions of Lambda's Invoke API that occur here, with their HTTP status. */
export const lambdaExceptions = {
  InvalidRequestContentException: 400,
  ResourceNotFoundException: 404,
  RequestTooLargeException: 413,
  TooManyRequestsException: 429,
  ServiceException: 500,
} as const;
export type LambdaException = keyof typeof lambdaExceptions;

/** Lambda prints signals as Go does, in words. */
const signalWords: Partial<Record<NodeJS.Signals, string>> = {
  SIGKILL: "killed",
  SIGTERM: "terminated",
  SIGABRT: "aborted",
  SIGSEGV: "segmentation fault",
};
