/** What the pool and a function's process say to each other. JSON text travels as text, so that nothing but JSON can pass. */

/** AWS: "6 MB each for request and response (synchronous)". */
export const payloadBytesMax = 6 * 1024 * 1024;
/** Lambda answers with this figure, a hundred bytes above the documented one; tools match on the sentence. */
export const responseSizeReported = 6_291_556;

export interface InvokeMessage {
  readonly event: string;
  readonly deadlineEpochMs: number;
  readonly requestId: string;
}

export interface FaultReport {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace: readonly string[];
}

export type ProcessMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "success"; readonly requestId: string; readonly payload: string }
  | { readonly kind: "fault"; readonly requestId: string; readonly fault: FaultReport }
  /** The process ends right after: the module does not load, or something was thrown outside the handler. */
  | { readonly kind: "lastWords"; readonly fault: FaultReport };
