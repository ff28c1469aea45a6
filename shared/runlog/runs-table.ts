import type { TableSchema } from "../tables/table-schema.ts";

const summary = [
  "agent",
  "workflow_id",
  "workflow_version",
  "status",
  "waiting_for",
  "created_at",
  "updated_at",
] as const;

/** Runs, their steps, waiters and failures: one partition a run, one sort key an item. */
export const runsTable: TableSchema = {
  name: "runs",
  partitionKey: "run_id",
  sortKey: "item",
  ttlAttribute: "ttl",
  indexes: [
    { name: "by-agent", partitionKey: "agent_runs", sortKey: "created_at", projection: summary },
    { name: "by-workflow", partitionKey: "workflow_runs", sortKey: "created_at", projection: summary },
    // Sparse: only open runs and waiters nobody answered. The task token is a secret and stays out of it.
    {
      name: "open",
      partitionKey: "open_shard",
      sortKey: "open_since",
      projection: [
        ...summary,
        ...["position", "node", "kind", "fingerprint", "line", "routes", "subject", "operation_id", "risk"],
        ...["requested_at", "expires_at", "execution_attempt", "write_id"],
      ],
    },
  ],
};
