import type { LedgerEntry } from "../../shared/ledger/ledger-entry.ts";
import type { TraceEntry } from "../in-process/trace.ts";

/** Where a process may die around an effect, and what it has not done by then. */
export const crashPoints = {
  CP1: "after PENDING",
  CP2: "after STARTED, before the call",
  CP3: "downstream committed, response not read",
  CP4: "response read, before SUCCEEDED",
  CP5: "SUCCEEDED, before the step",
  CP6: "after the step",
} as const;
export type CrashPoint = keyof typeof crashPoints;

/** Which crash point a fault at this call is, and of which operation. */
export function crashPointOf(
  { port, verb, ids, fault }: TraceEntry,
  operations: readonly LedgerEntry[],
): { readonly point: CrashPoint; readonly entry: LedgerEntry } | undefined {
  const entry = operations.find(
    ({ operation_id, position }) => operation_id === ids["operation_id"] || `STEP#${position}` === ids["item"],
  );
  if (!entry) return undefined;
  const point = pointOf(
    port === "dynamo" && verb === "Put" ? `${ids["table"] ?? ""} ${ids["status"] ?? ""}` : `${port} ${verb}`,
    fault,
  );
  return point && { point, entry };
}

function pointOf(call: string, fault: string | undefined): CrashPoint | undefined {
  switch (`${call} ${fault ?? ""}`) {
    case "ledger PENDING crash_after":
      return "CP1";
    case "ledger STARTED crash_after":
    case "tool execute crash_before":
      return "CP2";
    case "tool execute crash_after":
      return "CP3";
    case "ledger SUCCEEDED crash_before":
      return "CP4";
    case "ledger SUCCEEDED crash_after":
    case "runs  crash_before":
      return "CP5";
    case "runs  crash_after":
      return "CP6";
    default:
      return undefined;
  }
}
