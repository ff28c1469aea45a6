import { z } from "zod";
import { isCompensation } from "../agent/compensation.ts";
import { Person } from "../approval/person.ts";
import { FaultRecord } from "../faults/fault.ts";
import { PackedValue } from "../payloads/claim-check.ts";
import { Retirement } from "../release/release.ts";

/**
 * - RUNNING: an execution works on it. WAITING: parked at a waiter that will wake it.
 * - PARKED: needs a person (`failure` says why); resumable. SUCCEEDED, FAILED, CANCELLED: ended.
 */
export const RunStatus = z.enum(["RUNNING", "WAITING", "PARKED", "SUCCEEDED", "FAILED", "CANCELLED"]);
export type RunStatus = z.infer<typeof RunStatus>;

export const openRunStatuses: readonly RunStatus[] = ["RUNNING", "WAITING", "PARKED"];
export const isOpen = (status: RunStatus): boolean => openRunStatuses.includes(status);

export const RunId = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/u, "expected 1 to 64 of A-Z a-z 0-9 . _ - (no colon)")
  .brand<"RunId">();
export type RunId = z.infer<typeof RunId>;

/** Why a run is parked or failed, for the person who looks at 3 a.m. */
export const RunFailure = z.object({
  position: z.string(),
  node: z.string(),
  error: FaultRecord,
  attempts: z.number().int().nonnegative(),
  next_move: z.string(),
});
export type RunFailure = z.infer<typeof RunFailure>;

/**
 * The run has turned out otherwise: what it did is undone, latest first, and then it takes the end that is kept here. Stays after the
 * end, and says then that the run was compensated.
 */
export const RunCompensation = z.object({
  /** Its failure, or the route that ended it, or a person. */
  because: z.enum(["failed", "rejected", "expired", "sent_back", "cancelled"]),
  since: z.string(),
  ends: z.object({
    status: z.enum(["FAILED", "SUCCEEDED", "CANCELLED"]),
    outcome: z.string(),
    failure: RunFailure.optional(),
  }),
});
export type RunCompensation = z.infer<typeof RunCompensation>;

/** Where a run that somebody resumed on another version is about to go on. It stays where it is until that version has taken it. */
export const RunMove = z.object({ state_machine_arn: z.string(), workflow_version: z.number().int() });
export type RunMove = z.infer<typeof RunMove>;

export const RunRecord = z.object({
  run_id: RunId,
  agent: z.string(),
  workflow_id: z.string(),
  workflow_version: z.number().int(),
  contract_digest: z.string(),
  checkpoint_schema_version: z.number().int(),
  status: RunStatus,
  /** How it ended: `completed`, or the route that ended it (`rejected`, `expired`). */
  outcome: z.string().optional(),
  input: PackedValue,
  input_digest: z.string(),
  /** The version of the states that it goes on with, whatever is deployed meanwhile. */
  state_machine_arn: z.string(),
  moving_to: RunMove.optional(),
  /** A version it was on was retired. Holds while it still is on that one. */
  retired: Retirement.extend({ workflow_version: z.number().int() }).optional(),
  /** The agent's first node, where a run without steps enters. */
  entry: z.string(),
  /** Name of the execution that owns the run now: `<run_id>-<execution_attempt>`. */
  execution: z.string(),
  execution_attempt: z.number().int().positive(),
  waiting_for: z.string().optional(),
  failure: RunFailure.optional(),
  /** The run whose log it has up to a position. What that run did is not done again. */
  forked_from: z.object({ run_id: z.string(), at: z.string() }).optional(),
  /** Nothing of it reaches the outside: writes and approvals are made up. Never changes. */
  simulated: z.literal(true).optional(),
  /** Who started it; absent where nobody was named. */
  started_by: Person.optional(),
  /** Versions of the workflow whose approvals still hold in this run: a resume on another version found them compatible. */
  compatible_with: z.array(z.number().int()).optional(),
  /** Its agent declares how writes are undone, and its states can. */
  compensates: z.literal(true).optional(),
  compensation: RunCompensation.optional(),
  created_at: z.string(),
  updated_at: z.string(),
  write_id: z.string(),
});
export type RunRecord = z.infer<typeof RunRecord>;

/** Why nothing more may happen where it is: its version was retired, and no other has taken it since. */
export const retirementOf = ({ retired, workflow_version }: Pick<RunRecord, "retired" | "workflow_version">) =>
  retired?.workflow_version === workflow_version ? retired : undefined;

/** What it did is being undone; afterwards `compensation` says that it was. */
export const isCompensating = ({ status, compensation }: Pick<RunRecord, "status" | "compensation">): boolean =>
  isOpen(status) && compensation !== undefined;

/** How it stands, to end a sentence with. */
export const standingOf = (run: RunRecord | undefined): string =>
  run === undefined ? "gone" : isCompensating(run) ? "being compensated" : run.status;

/** Whether a run still wants what `node` does, or an answer to it. An ended one wants nothing, one that is compensated nothing but compensations. */
export const stillWants = (
  { status, compensation }: Pick<RunRecord, "status" | "compensation">,
  node: string,
): boolean => isOpen(status) && (compensation !== undefined) === isCompensation(node);

export const executionName = (runId: string, attempt: number): string => `${runId}-${attempt}`;

/** The attempt in an execution's name. @throws RangeError on a name this package did not make. */
export function executionAttempt(execution: string): number {
  const attempt = Number(/-(\d+)$/u.exec(execution)?.[1]);
  if (!Number.isSafeInteger(attempt))
    throw new RangeError(`expected an execution named <run_id>-<attempt>, found ${execution}`);
  return attempt;
}
