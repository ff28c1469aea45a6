import { z } from "zod";
import { Superseded, Vote } from "../approval/approval.ts";
import type { OperationStatus } from "../ledger/ledger-entry.ts";
import { PackedValue } from "../payloads/claim-check.ts";
import { Position } from "../runlog/position.ts";

/**
 * - `approval`: a person decides; the answer is a step.
 * - `resolution`: an operation is UNKNOWN; the answer is the ledger's.
 * - `delivery`: an operation is on its way by queue or by a person's hand; the answer is the ledger's.
 */
export const WaiterKind = z.enum(["approval", "resolution", "delivery"]);
export type WaiterKind = z.infer<typeof WaiterKind>;

/** Where each answer leads. Stored when the run parks, so that whoever answers needs no agent code. */
export const WaiterRoutes = z.record(z.string(), z.string());

/**
 * A parked position. The answer is the *step* at the same position; the waiter only says who waits, for what, and how to wake it.
 * Order matters on both sides: who waits puts its token, then reads the step again; who answers writes the step, then reads the token and sends.
 */
export const Waiter = z.object({
  run_id: z.string(),
  position: Position,
  node: z.string(),
  kind: WaiterKind,
  agent: z.string(),
  workflow_id: z.string(),
  workflow_version: z.number().int(),
  fingerprint: z.string(),
  /** The line (Task state) that parked here. */
  line: z.string(),
  routes: WaiterRoutes,
  /** What the answer is bound to and what a person is shown. Shape depends on `kind`. */
  subject: PackedValue,
  operation_id: z.string().optional(),
  risk: z.string().optional(),
  requested_at: z.string(),
  expires_at: z.string(),
  /** ANSWERED once the step exists and the waiter was told. A waiter that is OPEN beside a recorded step only lacks its wake-up. */
  status: z.enum(["OPEN", "ANSWERED"]),
  answered_at: z.string().optional(),
  /** An approval's votes so far, by person: each adds its own, so that none is lost. Only where more than one is needed. */
  votes: z.record(z.string(), Vote).optional(),
  /** An approval that counts no more: what was decided, or asked, is not what would be sent. */
  superseded: Superseded.optional(),
  /** A secret: never in a log, a URL or a response. */
  task_token: z.string().optional(),
  execution_attempt: z.number().int().optional(),
  write_id: z.string(),
});
export type Waiter = z.infer<typeof Waiter>;

/** `<run_id>:<position>`: a run id holds no colon, so it splits one way only. */
export const waiterId = (runId: string, position: string): string => `${runId}:${position}`;

/** Changes once an approval counts no more: a page that was opened before is refused. */
export const waiterVersion = ({ superseded }: Pick<Waiter, "superseded">): number => (superseded ? 2 : 1);

export function parseWaiterId(text: string): { readonly runId: string; readonly position: Position } | undefined {
  const colon = text.indexOf(":");
  const position = Position.safeParse(text.slice(colon + 1));
  return colon > 0 && position.success ? { runId: text.slice(0, colon), position: position.data } : undefined;
}

/** Whether a waiter still waits while its operation has this status. An approval waits for a step instead. */
export const isAwaited = ({ kind }: Pick<Waiter, "kind">, status: OperationStatus): boolean =>
  kind === "resolution" ? status === "UNKNOWN" : status === "PENDING" || status === "STARTED";
