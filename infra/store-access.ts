import type { FunctionEntry } from "./bundled-code.ts";
import type { StoreAccess } from "./agent-store.ts";

/** Who may do what with the store: exactly what each function's code does, and no more. */
export const storeAccess: Readonly<Record<FunctionEntry, StoreAccess>> = {
  // The whole log of its run, every kind of record, and the operations of its own writes. Those of a run that it takes over are listed.
  step: {
    runs: { actions: ["GetItem", "Query", "PutItem", "UpdateItem"] },
    ledger: { actions: ["GetItem", "PutItem"], indexes: ["by-run"] },
    payloads: ["get", "put"],
  },
  // Reads the log, registers a token, and where time is over writes the answer. Of operations it only looks whether one is still awaited.
  wait: {
    runs: { actions: ["GetItem", "Query", "PutItem", "UpdateItem"] },
    ledger: { actions: ["GetItem"] },
    payloads: ["get", "put"],
  },
  // Reads the log and changes the run's status.
  settle: { runs: { actions: ["GetItem", "Query", "UpdateItem"] } },
  // Points the workflow at a new run and writes it. Its input may be large.
  start: { runs: { actions: ["GetItem", "PutItem"] }, payloads: ["put"] },
  // Looks, and changes nothing. An operation is an item of its own: the ledger is queried by its indexes only.
  read: {
    runs: { actions: ["GetItem", "Query"], indexes: "all" },
    ledger: { actions: ["GetItem"], indexes: "all" },
    payloads: ["get"],
  },
  // Reads a waiter and what its run was allowed before, writes its answer, closes it.
  decide: {
    runs: { actions: ["GetItem", "Query", "PutItem", "UpdateItem"] },
    payloads: ["get", "put"],
  },
  // The same, for whoever comes by a signed link.
  review: {
    runs: { actions: ["GetItem", "Query", "PutItem", "UpdateItem"] },
    payloads: ["get", "put"],
  },
  // Writes a person's word, closes the waiter, moves a run to a new execution or to its end, grants a run's operations new attempts. Writes
  // the log of a fork. Finds the runs of a version that is retired.
  control: {
    runs: { actions: ["GetItem", "Query", "PutItem", "UpdateItem"], indexes: ["open"] },
    ledger: { actions: ["GetItem", "PutItem"], indexes: "all" },
    payloads: ["get", "put"],
  },
  // Reads what is open, and repairs: an expiry is a step, a wake-up closes a waiter, where it stopped is an item of the run log's table.
  // Operations are looked into by their own functions, which write the ledger.
  sweep: {
    runs: { actions: ["GetItem", "Query", "PutItem", "UpdateItem"], indexes: "all" },
    ledger: { actions: ["GetItem"], indexes: "all" },
    payloads: ["get", "put"],
  },
  // Hands a message to the operation's own function, then wakes the run or parks it. What is sent it never sees.
  deliver: {
    runs: { actions: ["GetItem", "Query", "UpdateItem"] },
    ledger: { actions: ["GetItem"] },
  },
  // Keeps contracts and releases, and counts what is open. Ends runs that a deployment gives up.
  release: { runs: { actions: ["GetItem", "Query", "PutItem", "UpdateItem"], indexes: ["open"] }, payloads: ["put"] },
};
