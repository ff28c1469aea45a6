import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { Manifest } from "../../shared/contract/manifest.ts";
import { type Foothold, footholdOf } from "../../shared/contract/foothold.ts";

const Item = z.record(z.string(), z.unknown());

/** A run as it lay in the tables once, item for item: its log, its operations, its contract, and the values that lay beside them. */
export const RecordedRun = z.object({
  format: z.literal(1),
  agent: z.string(),
  workflow_version: z.number().int(),
  /** What it is a case of, e.g. `waits-at-approval`. */
  case: z.string(),
  run_id: z.string(),
  /** Where its clock stood. */
  recorded_at: z.string(),
  runs: z.array(Item),
  ledger: z.array(Item),
  payloads: z.record(z.string(), z.string()),
  /** What the other side had of it by then, for whoever plays it on. */
  outside: z.record(z.string(), z.string()).default({}),
});
export type RecordedRun = z.infer<typeof RecordedRun>;

/** What of a run's items tells where it stands. Older ones hold less than today's, and are read all the same. */
const RunItem = z.object({ entry: z.string(), contract_digest: z.string(), compensation: z.unknown().optional() });
const StepItem = z.object({
  position: z.string(),
  node: z.string(),
  kind: z.string(),
  fingerprint: z.string(),
  next: z.string(),
  operation_id: z.string().optional(),
});
const WaiterItem = z.object({
  position: z.string(),
  node: z.string(),
  kind: z.string(),
  status: z.string(),
  routes: z.record(z.string(), z.string()),
});
const OperationItem = z.object({ operation_id: z.string(), position: z.string(), status: z.string() });
const ContractItem = z.object({ contract: z.object({ json: z.string() }) });

/** Recorded runs of an agent, `<folder>/<agent>/<version>/<case>.json`, in order of version and case. @throws Error `RecordedRunError` that names the file. */
export function readRecordedRuns(
  folder: string,
  agent: string,
): readonly { readonly file: string; readonly run: RecordedRun }[] {
  const own = join(folder, agent);
  if (!existsSync(own)) return [];
  const versions = readdirSync(own).sort((a, b) => Number(a) - Number(b));
  return versions.flatMap((version) =>
    readdirSync(join(own, version))
      .filter((name) => name.endsWith(".json"))
      .sort()
      .map((name) => {
        const file = join(own, version, name);
        return { file, run: parseRecordedRun(file) };
      }),
  );
}

function parseRecordedRun(file: string): RecordedRun {
  const parsed = RecordedRun.safeParse(parseJson(file));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw recordedRunError(`${file} is no recorded run (${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""})`);
}

function parseJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw recordedRunError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const recordedRunError = (message: string): Error =>
  Object.assign(new Error(`${message}: restore it from version control, a record is never edited`), {
    name: "RecordedRunError",
  });

/** Where the recorded run stands. */
export function footholdOfRecord(record: RecordedRun): Foothold {
  const { run_id, runs, ledger } = record;
  const own = runs.filter((item) => item["run_id"] === run_id);
  const of = (prefix: string) => own.filter((item) => String(item["item"]).startsWith(prefix));
  return footholdOf(
    {
      run: RunItem.parse(of("RUN")[0]),
      steps: of("STEP#").map((item) => StepItem.parse(item)),
      waiters: of("WAIT#").map((item) => WaiterItem.parse(item)),
    },
    ledger.map((item) => OperationItem.parse(item)),
    contractOfRecord(record),
  );
}

/** The contract that it was started under. */
export function contractOfRecord({ run_id, runs }: RecordedRun): Manifest {
  const run = RunItem.parse(runs.find((item) => item["run_id"] === run_id && item["item"] === "RUN"));
  const kept = runs.find((item) => item["run_id"] === `CONTRACT#${run.contract_digest}`);
  return Manifest.parse(JSON.parse(ContractItem.parse(kept).contract.json));
}
