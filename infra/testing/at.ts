import type { AdmittedCall, CallPattern } from "../in-process/port-call.ts";

/** Where a fault strikes. */
export type Where = CallPattern | number | ((call: AdmittedCall) => boolean);

const dynamoPut = (table: string, fits: (ids: AdmittedCall["ids"]) => boolean) => (call: AdmittedCall) =>
  call.port === "dynamo" && call.verb === "Put" && call.ids["table"] === table && fits(call.ids);

/** The calls that a test is most often about, by name. Any other: a `CallPattern`, a function, or a number out of the trace. */
export const at = {
  /** The call of a tool. A crash before it is one after the claim; a crash after it, one before the answer was read. */
  tool: (name: string): Where => ({ port: "tool", ids: { tool: name } }),
  lookup: (tool: string): Where => ({ port: "tool", verb: "lookup", ids: { tool } }),
  model: (node: string): Where => ({ port: "model", ids: { node } }),
  /** An operation is written down in this state: `STARTED` is the claim, `SUCCEEDED` the commit. */
  ledger: (status: string): Where => dynamoPut("ledger", (ids) => ids["status"] === status),
  /** The result of a node is written down. */
  step: (node: string): Where =>
    dynamoPut("runs", ({ item = "" }) => item.startsWith("STEP#") && item.endsWith(`.${node}`)),
  /** A state that waits is told. */
  wakeUp: (): Where => (call) => call.port === "sfn" && call.verb.startsWith("SendTask"),
  queue: (): Where => ({ port: "queue" }),
  /** A function is invoked: `step-<agent>`, `wait`, `sweep`, … */
  invoke: (functionName: string): Where => ({ port: "lambda", ids: { function: functionName } }),
} as const;
