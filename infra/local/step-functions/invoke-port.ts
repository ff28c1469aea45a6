export type InvokeResult =
  | { readonly ok: true; readonly payload: unknown }
  /** `error` is what Retry and Catch match; `cause` is text, for a handler's error the JSON `{ errorType, errorMessage, trace }`. */
  | { readonly ok: false; readonly error: string; readonly cause: string };

/** Runs one Lambda function to its end. A dead process or an overrun deadline is a result, not a rejection. */
export type InvokeLambda = (functionName: string, payload: unknown) => Promise<InvokeResult>;
