import type { Agent } from "../agent/agent.ts";
import { RecordCorrupt } from "../faults/faults.ts";
import { digestOf } from "../operation/canonical-json.ts";
import { packValue, unpackValue } from "../payloads/claim-check.ts";
import type { PayloadStore } from "../payloads/payload-store.ts";
import type { RunLog } from "../runlog/run-log.ts";
import { Manifest, manifestDigest, manifestOf } from "./manifest.ts";

/** What keeps contracts beside the runs that rely on them. */
export interface ContractPorts {
  readonly log: Pick<RunLog, "keepContract" | "readContract">;
  readonly payloads: PayloadStore;
}

/** Folder of the payload store in which contracts lie that are too large for an item. */
const payloadFolder = "contracts";

/**
 * Keeps an agent's contract under its digest, once for all its runs. Before a run is written, so that every run can say what it relies on.
 * @returns the digest, which the run holds.
 */
export async function keepContract(agent: Agent, { log, payloads }: ContractPorts): Promise<string> {
  const manifest = manifestOf(agent);
  const digest = manifestDigest(manifest);
  await log.keepContract(digest, () => packValue(payloads, payloadFolder, manifest));
  return digest;
}

/** What a run relies on; undefined where its contract was never kept. @throws RecordCorrupt where another content lies there. */
export async function readContract(digest: string, { log, payloads }: ContractPorts): Promise<Manifest | undefined> {
  const packed = await log.readContract(digest);
  if (packed === undefined) return undefined;
  const value = await unpackValue(payloads, packed);
  if (digestOf(value) !== digest)
    throw new RecordCorrupt(`contract ${digest}`, "its content does not match its digest");
  const parsed = Manifest.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new RecordCorrupt(`contract ${digest}`, parsed.error.issues[0]?.message ?? "it is no contract");
}
