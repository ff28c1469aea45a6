import { z } from "zod";
import { ApprovalView } from "../../shared/index.ts";

/** The API's answers, as far as the command shows them. */
export const Started = z.object({
  run_id: z.string(),
  workflow_id: z.string(),
  agent: z.string(),
  status: z.string(),
  created: z.boolean(),
  same_input: z.boolean().optional(),
});
export type Started = z.infer<typeof Started>;

export const Runs = z.object({
  runs: z.array(
    z.object({
      run_id: z.string(),
      agent: z.string(),
      workflow_id: z.string(),
      status: z.string(),
      waiting_for: z.string().optional(),
      updated_at: z.string(),
    }),
  ),
});

const FaultShown = z.object({ code: z.string(), failure_class: z.string(), message: z.string() });

export const Operation = z.object({
  operation_id: z.string(),
  run_id: z.string(),
  action_name: z.string(),
  business_key: z.string(),
  position: z.string(),
  compensates: z.string().optional(),
  status: z.string(),
  external_ref: z.string().optional(),
  attempt: z.number(),
  capability: z.string(),
  may_have_applied: z.boolean(),
  lease_until: z.string().optional(),
  error: FaultShown.optional(),
  contradictions: z.array(z.object({ kind: z.string(), status_then: z.string(), at: z.string() })).optional(),
  updated_at: z.string(),
});
export type Operation = z.infer<typeof Operation>;

export const Resolved = z.object({ operation: Operation, changed: z.boolean(), wake: z.string() });
export const Moved = z.object({
  run_id: z.string(),
  status: z.string(),
  compensating: z.boolean().optional(),
  to_version: z.number().optional(),
  verdict: z.string().optional(),
  asks_again: z.boolean().optional(),
});

export const Forked = z.object({
  run_id: z.string(),
  forked_from: z.object({ run_id: z.string(), at: z.string() }),
  simulated: z.boolean(),
  created: z.boolean(),
  records_taken: z.number(),
  repeats: z.array(
    z.object({ operation_id: z.string(), action_name: z.string(), business_key: z.string(), status: z.string() }),
  ),
  writes_ahead: z.array(z.string()),
});
export type Forked = z.infer<typeof Forked>;

export const Operations = z.object({ operations: z.array(Operation) });

export const Run = z.object({
  run_id: z.string(),
  workflow_id: z.string(),
  agent: z.string(),
  workflow_version: z.number(),
  retired: z.object({ at: z.string(), by: z.string(), reason: z.string() }).optional(),
  status: z.string(),
  forked_from: z.object({ run_id: z.string(), at: z.string() }).optional(),
  /** Nothing of it reached the outside. */
  simulated: z.boolean().optional(),
  outcome: z.string().optional(),
  waiting_for: z.string().optional(),
  compensation: z
    .object({
      because: z.string(),
      compensating: z.boolean(),
      ends: z.object({
        status: z.string(),
        outcome: z.string(),
        failure: z.object({ node: z.string(), error: FaultShown }).optional(),
      }),
    })
    .optional(),
  failure: z
    .object({ position: z.string(), node: z.string(), attempts: z.number(), error: FaultShown, next_move: z.string() })
    .optional(),
  created_at: z.string(),
  updated_at: z.string(),
  steps: z.array(
    z.object({
      simulated: z.boolean().optional(),
      position: z.string(),
      node: z.string(),
      kind: z.string(),
      outcome: z.string(),
      next: z.string(),
      output: z.unknown(),
      operation_id: z.string().optional(),
      created_at: z.string(),
    }),
  ),
  operations: z.array(Operation),
  waiters: z.array(
    z.object({ waiter_id: z.string(), kind: z.string(), node: z.string(), status: z.string(), expires_at: z.string() }),
  ),
  failures: z.array(
    z.object({
      position: z.string(),
      node: z.string(),
      attempts: z.number(),
      error: FaultShown,
      updated_at: z.string(),
    }),
  ),
});
export type Run = z.infer<typeof Run>;

const Word = z.object({ by: z.string(), at: z.string(), comment: z.string().optional() });
const Answer = z.object({
  outcome: z.string(),
  by: z.string().optional(),
  at: z.string(),
  comment: z.string().optional(),
});

export const Approval = z.object({
  approval_id: z.string(),
  status: z.string(),
  version: z.number(),
  run_id: z.string(),
  workflow_id: z.string(),
  agent: z.string(),
  risk: z.string(),
  action_name: z.string(),
  payload_digest: z.string(),
  view: ApprovalView,
  approvers: z.object({ quorum: z.number(), in_words: z.string() }),
  requested_by: z.object({ by: z.string() }).optional(),
  votes: z.array(Word),
  decision: Answer.optional(),
  superseded: z.object({ reason: z.string(), comment: z.string().optional(), at: z.string() }).optional(),
  requested_at: z.string(),
  expires_at: z.string(),
});
export type Approval = z.infer<typeof Approval>;
export const Approvals = z.object({ approvals: z.array(Approval), more: z.boolean() });

export const Decided = z.object({
  approval_id: z.string(),
  run_id: z.string(),
  status: z.string(),
  /** Absent while more votes are needed. */
  decision: Answer.optional(),
  votes: z.array(Word).optional(),
  quorum: z.number().optional(),
});
export type Decided = z.infer<typeof Decided>;
