import type { TableSchema } from "../tables/table-schema.ts";

/** Operations, one item each. */
export const ledgerTable: TableSchema = {
  name: "ledger",
  partitionKey: "operation_id",
  ttlAttribute: "ttl",
  indexes: [
    { name: "by-run", partitionKey: "run_id", sortKey: "created_at", projection: "ALL" },
    // Sparse: operations that are not settled.
    { name: "open", partitionKey: "open_shard", sortKey: "updated_at", projection: "ALL" },
  ],
};
