import { isCompensation } from "../agent/compensation.ts";
import { ApprovalOutcome } from "../approval/approval.ts";
import { TAKE_OVER } from "../compile/lines.ts";
import type { Manifest } from "../contract/manifest.ts";
import { reachable } from "../contract/contract-graph.ts";
import { readContract } from "../contract/kept-contract.ts";
import { BadRequest } from "../faults/faults.ts";
import type { LedgerEntry } from "../ledger/ledger-entry.ts";
import { sha256Hex } from "../operation/canonical-json.ts";
import { operationId } from "../operation/operation-id.ts";
import { packValue, unpackValue } from "../payloads/claim-check.ts";
import type { Person } from "../approval/person.ts";
import { isoTime } from "../ports/clock.ts";
import type { Executions } from "../ports/executions.ts";
import type { Releases } from "../release/releases.ts";
import { Adoption, ADOPTION } from "../runlog/adoption.ts";
import { nodeAt, Position } from "../runlog/position.ts";
import type { RunHistory } from "../runlog/run-log.ts";
import { executionName, isOpen, RunId, type RunRecord } from "../runlog/run-record.ts";
import { END, type Step } from "../runlog/step.ts";
import type { ComparePorts } from "./compare-run.ts";
import { planMove } from "./move-run.ts";
import { placeOf, positionAhead } from "./place-of.ts";
import type { RunPorts } from "./ports.ts";

export interface ForkRequest {
  /** Where the new run goes on: what stands before this is taken along. */
  readonly at: string;
  /** Whether its writes reach the outside. */
  readonly live: boolean;
  /** The version it goes on under; the run's own where there is none. */
  readonly version: number | undefined;
  /** Operations of the run that a live fork may make once more: all that it would, named one by one. */
  readonly repeat: readonly string[];
  readonly by: Person;
}

export interface Forked {
  readonly run: RunRecord;
  readonly created: boolean;
  /** Records that were taken along. */
  readonly taken: number;
  /** What the run did from there on, and what would be done once more by a live fork, as another operation. */
  readonly repeats: readonly LedgerEntry[];
  /** Writes that lie ahead. */
  readonly ahead: readonly string[];
}

export type ForkPorts = RunPorts &
  ComparePorts & { readonly executions: Executions; readonly releases: Pick<Releases, "list"> };

/**
 * Makes a new run with the log of another up to a position. What that run did until there is not done again; decisions that were made there
 * were made for it alone, so whatever still needs one asks anew. Later effects are simulated, unless the fork is live.
 * @throws BadRequest where there is no such place, where the version may not continue it, or where a live fork would do again what the run
 * has done and nobody said so by name.
 */
export async function forkRun(history: RunHistory, request: ForkRequest, ports: ForkPorts): Promise<Forked> {
  const cut = await asOfThen(cutAt(history, request.at), history, ports);
  const { run } = cut;
  const contract = await readContract(run.contract_digest, ports);
  const repeats = await repeatedBy(history, cut, ports);
  const ahead = writesAhead(contract, cut);
  if (request.live) {
    refuseOpen(run);
    refuseUnnamed(run, repeats, request);
  }
  const move =
    request.version === undefined
      ? undefined
      : (await planMove(cut, request.version, { ...ports, ledger: nothingBegun })).to;

  const runId = forkId(run, request, ports);
  const steps = await Promise.all(cut.steps.map((step) => copied(step, runId, ports)));
  // The log is whole before there is a run: whoever finds one finds all of it.
  for (const step of steps) await ports.log.append(step);
  const now = isoTime(ports.clock.nowMs());
  const { record: fork, written } = await ports.log.openFork({
    run_id: runId,
    agent: run.agent,
    workflow_id: run.workflow_id,
    workflow_version: run.workflow_version,
    contract_digest: run.contract_digest,
    checkpoint_schema_version: run.checkpoint_schema_version,
    status: "RUNNING",
    input: run.input,
    input_digest: run.input_digest,
    state_machine_arn: run.state_machine_arn,
    ...(move && { moving_to: move }),
    entry: run.entry,
    execution: executionName(runId, 1),
    execution_attempt: 1,
    forked_from: { run_id: run.run_id, at: request.at },
    ...(!request.live && { simulated: true }),
    ...(run.retired && { retired: run.retired }),
    ...(request.live && run.compensates && { compensates: true }),
    started_by: request.by,
    created_at: now,
    updated_at: now,
    write_id: ports.ids.next(),
  });
  if (fork.status === "RUNNING" && fork.execution_attempt === 1) {
    const { position, node } = placeOf({ ...cut, run: fork });
    const states = fork.moving_to?.state_machine_arn ?? fork.state_machine_arn;
    const next = fork.moving_to ? TAKE_OVER : node;
    await ports.executions.start(states, fork.execution, { run_id: fork.run_id, position, next });
  }
  ports.logger.info(written ? "run forked" : "fork exists", {
    run_id: fork.run_id,
    workflow_id: fork.workflow_id,
    workflow_version: fork.workflow_version,
    forked_from: run.run_id,
    position: request.at,
    live: request.live,
  });
  return { run: fork, created: written, taken: steps.length, repeats, ahead };
}

/** Before another version took the run over, its log was that of the version before. */
async function asOfThen(cut: RunHistory, { steps }: RunHistory, ports: ForkPorts): Promise<RunHistory> {
  const { position } = cut.steps.at(-1) ?? {};
  const later = steps.find((step) => step.kind === ADOPTION && (position === undefined || step.position > position));
  if (!later) return cut;
  const { from } = Adoption.parse(await unpackValue(ports.payloads, later.output));
  const releases = await ports.releases.list(cut.run.agent);
  const release = releases.find(({ contract_digest }) => contract_digest === from.contract_digest);
  if (!release) {
    throw new BadRequest(
      "version_missing",
      `run ${cut.run.run_id} was of version ${from.workflow_version} there, and no deployed version has that contract. Nothing was started: fork it behind ${later.position}`,
      409,
    );
  }
  return { ...cut, run: { ...cut.run, ...from, state_machine_arn: release.state_machine_arn } };
}

/** A fork has begun no operation of its own. */
const nothingBegun: ComparePorts["ledger"] = {
  read: () => Promise.resolve(undefined),
  listByRun: () => Promise.resolve([]),
};

/** The run as it was when it came to `at`, its failures and questions left behind. */
function cutAt(history: RunHistory, at: string): RunHistory {
  const forward = history.steps.filter((step) => !isCompensation(step.node));
  const parsed = Position.safeParse(at);
  const places = [...forward.map(({ position }) => position), positionAhead({ ...history, steps: forward })];
  if (!parsed.success || !places.includes(parsed.data)) {
    throw new BadRequest(
      "unknown_position",
      `expected a position of run ${history.run.run_id}, one of ${[...new Set(places)].join(", ")}; found "${at}". Nothing was started`,
      404,
    );
  }
  const { compensation: _, ...run } = history.run;
  return { run, steps: forward.filter(({ position }) => position < parsed.data), waiters: [], failures: [] };
}

/**
 * A record in its new log. An approval's answer was bound to an operation of the other run, so here it is history: it holds for nothing,
 * and names no question of this run.
 */
async function copied(step: Step, runId: RunId, ports: ForkPorts): Promise<Step> {
  const { operation_id: _, ...rest } = step;
  const own = { ...rest, run_id: runId, write_id: ports.ids.next() };
  if (step.kind !== "approval" || step.outcome !== "done") return own;
  const { outcome, by, known_by, comment, votes, policy, at } = ApprovalOutcome.parse(
    await unpackValue(ports.payloads, step.output),
  );
  const said = { outcome, by, known_by, comment, votes, policy, at };
  const told = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
  return { ...own, output: await packValue(ports.payloads, runId, told) };
}

/** What may have happened outside by what the fork leaves behind. One that belongs to the workflow, not to the run, is found and reused. */
async function repeatedBy(
  { run, steps }: RunHistory,
  cut: RunHistory,
  { ledger }: ForkPorts,
): Promise<readonly LedgerEntry[]> {
  const taken = new Set(cut.steps.map((step) => step.operation_id));
  const named = steps.map((step) => step.operation_id).filter((id) => id !== undefined);
  const listed = await ledger.listByRun(run.run_id);
  const ids = new Set([...named, ...listed.map(({ operation_id }) => operation_id)]);
  const entries = await Promise.all([...ids].map((id) => ledger.read(id)));
  return entries.filter(
    (entry) =>
      entry !== undefined &&
      !taken.has(entry.operation_id) &&
      ["STARTED", "SUCCEEDED", "UNKNOWN"].includes(entry.status) &&
      !isCompensation(nodeAt(entry.position as Position)) &&
      entry.operation_id !== operationId(run.workflow_id, nodeAt(entry.position as Position), entry.business_key),
  ) as readonly LedgerEntry[];
}

function writesAhead(contract: Manifest | undefined, cut: RunHistory): readonly string[] {
  const next = cut.steps.at(-1)?.next ?? cut.run.entry;
  if (!contract || next === END) return [];
  const reached = reachable(contract, next);
  return contract.nodes.filter(({ name, kind }) => kind === "write" && reached.has(name)).map(({ name }) => name);
}

/** Both would come to the same writes, and nobody could have named those that the other has not made yet. */
function refuseOpen({ run_id, status }: RunRecord): void {
  if (!isOpen(status)) return;
  throw new BadRequest(
    "still_open",
    `run ${run_id} is ${status}, and would still do what a live fork does too. Nothing was started: surefoot cancel ${run_id} first, or fork it without --live`,
    409,
  );
}

function refuseUnnamed(run: RunRecord, repeats: readonly LedgerEntry[], { repeat }: ForkRequest): void {
  const unnamed = repeats.filter(({ operation_id }) => !repeat.includes(operation_id));
  if (unnamed.length === 0) return;
  const list = unnamed.map(
    ({ operation_id, action_name, business_key, status }) =>
      `${operation_id} (${action_name} ${business_key}, ${status})`,
  );
  throw new BadRequest(
    "would_repeat",
    `a live fork would do again, as new operations, what run ${run.run_id} may have done: ${list.join(", ")}. Nothing was started: fork at a later position, or say each of them with --repeat <operation_id>`,
    409,
    { operations: unnamed.map(({ operation_id }) => operation_id).join(" ") },
  );
}

/** A live fork of one place is one run, however often it is asked for. */
function forkId(run: RunRecord, { at, live, version }: ForkRequest, { ids }: ForkPorts): RunId {
  const own = live ? sha256Hex(`${run.run_id} ${at} ${version ?? ""}`).slice(0, 12) : ids.next().slice(0, 12);
  return RunId.parse(`${run.agent}-${live ? "fork" : "sim"}-${own}`);
}
