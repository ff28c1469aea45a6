import { writeUndoneBy } from "../agent/compensation.ts";
import type { LedgerEntry } from "../ledger/ledger-entry.ts";
import { nodeAt, ordinalOf, Position, positionAt } from "../runlog/position.ts";
import { type OperationId, operationId } from "./operation-id.ts";

/** Of an operation that undoes another: which, and where that one stands. `undefined` for every other operation. */
export function undoneOperation({
  run_id,
  position,
  business_key,
}: Pick<LedgerEntry, "run_id" | "position" | "business_key">):
  { readonly operationId: OperationId; readonly write: string; readonly position: Position } | undefined {
  const parsed = Position.safeParse(position);
  const write = parsed.success ? writeUndoneBy(nodeAt(parsed.data)) : undefined;
  if (!parsed.success || write === undefined) return undefined;
  // Both share the business key, and a workflow's operations are never undone: the run's id is the scope.
  return {
    operationId: operationId(run_id, write, business_key),
    write,
    position: positionAt(ordinalOf(parsed.data), write),
  };
}
