import { readableCheckpointSchemas } from "./checkpoint-schema.ts";
import type { Hurt } from "./hurt.ts";
import type { Manifest } from "./manifest.ts";
import { operationHurts } from "./operation-hurts.ts";
import { questionHurts } from "./question-hurts.ts";
import { recordHurts } from "./record-hurts.ts";
import type { Foothold } from "./foothold.ts";
import { wayHurts } from "./way-hurts.ts";

/** Why a run that stands there under `recorded` cannot simply go on under `current`. Empty where it can. */
export function hurtsOf(recorded: Manifest, current: Manifest, foothold: Foothold): readonly Hurt[] {
  return [
    ...workflowHurts(recorded, current),
    ...recordHurts(recorded, current, foothold),
    ...wayHurts(recorded, current, foothold),
    ...questionHurts(recorded, current, foothold),
    ...operationHurts(recorded, current, foothold),
  ];
}

function workflowHurts(recorded: Manifest, current: Manifest): readonly Hurt[] {
  const all = (because: string, unmovable?: true): Hurt => ({
    node: undefined,
    runs: { where: "all" },
    verdict: "incompatible",
    because,
    ...(unmovable && { unmovable }),
  });
  const hurts: Hurt[] = [];
  if (recorded.workflow_name !== current.workflow_name) {
    hurts.push(all(`their runs are of ${recorded.workflow_name}, and this is ${current.workflow_name}`, true));
  }
  if (!readableCheckpointSchemas.includes(recorded.checkpoint_schema_version)) {
    hurts.push(
      all(`their log is in checkpoint schema ${recorded.checkpoint_schema_version}, which this code cannot read`, true),
    );
  }
  if (recorded.workflow_version > current.workflow_version) {
    hurts.push(all(`they are of version ${recorded.workflow_version}, and versions only go up`, true));
  }
  if (recorded.input !== current.input) hurts.push(all("their input was checked by another schema"));
  return hurts;
}
