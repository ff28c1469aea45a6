import { RecordCorrupt } from "../faults/faults.ts";

/** Version of the shape in which a run's log is stored. Raised with every change that older code would misread. */
export const checkpointSchemaVersion = 1;

/** Shapes that this code reads. */
export const readableCheckpointSchemas: readonly number[] = [1];

/**
 * Looks at a run's record before anything else of its log is read: what another shape says, this code would take for something else.
 * @throws RecordCorrupt that names the version which can read it.
 */
export function checkReadable(runId: string, run: Readonly<Record<string, unknown>>): void {
  const found = run["checkpoint_schema_version"];
  if (typeof found === "number" && readableCheckpointSchemas.includes(found)) return;
  const { workflow_version: version, agent } = run;
  throw new RecordCorrupt(
    `run ${runId}`,
    `it is in checkpoint schema ${String(found)}, this code reads ${readableCheckpointSchemas.join(", ")}. Nothing ran: version ${String(version)} of ${String(agent)}, which started it, can read it`,
    { run_id: runId, checkpoint_schema_version: String(found), workflow_version: String(version) },
  );
}
