import type { Agent } from "../agent/agent.ts";
import { wireError } from "../compile/wire-errors.ts";
import type { PlaceComparison } from "../contract/compare-at.ts";
import { keepContract } from "../contract/kept-contract.ts";
import { contractDigest } from "../contract/manifest.ts";
import { migrateState, migrationsBetween } from "../contract/migration.ts";
import { WireFault } from "../faults/wire-fault.ts";
import { packValue, unpackValue } from "../payloads/claim-check.ts";
import { isoTime } from "../ports/clock.ts";
import { Adoption, ADOPTION } from "../runlog/adoption.ts";
import { nodeAt } from "../runlog/position.ts";
import type { RunHistory } from "../runlog/run-log.ts";
import { openRunStatuses } from "../runlog/run-record.ts";
import { END, type Step } from "../runlog/step.ts";
import { type Waiter, waiterId } from "../waiter/waiter.ts";
import { checkSteps } from "./check-step.ts";
import { compareRun } from "./compare-run.ts";
import { failRestore } from "./fail-restore.ts";
import { foldState } from "./fold-state.ts";
import { readOwned } from "./owned-run.ts";
import { placeOf, positionAhead } from "./place-of.ts";
import type { NodePorts } from "./ports.ts";
import { refuseRetired, versionRefused } from "./refuse-version.ts";
import type { LineEntry, LineExit } from "./line-entry.ts";
import { supersedeDecision, supersedePending } from "./supersede-approval.ts";

/** Times others may move the run while it is taken over: a person who decides, or what is left of an earlier execution. */
const turnsMax = 10;

/**
 * Lets this version continue a run, where it may. Nothing has to be done for a run that is its own, little for one that is compatible; one
 * whose person has to be asked again, or whose state has to be migrated, gets a record of that in its log, from which it goes on. The first
 * writer of a position wins, as with every record: whatever dies or is repeated in between, the run is on one version or on the other.
 * @returns where the states go on. @throws WireFault by which the run is parked, on the version that it was on.
 */
export async function takeOverRun(agent: Agent, entry: LineEntry, ports: NodePorts): Promise<LineExit> {
  for (let turn = 0; turn < turnsMax; turn++) {
    const history = await readOwned(entry, ports);
    if (!(await tryTaking(agent, history, entry, ports))) continue;
    const { position, node } = placeOf(await readOwned(entry, ports));
    return { run_id: entry.runId, position, next: node };
  }
  const message = `run ${entry.runId} moved ${turnsMax} times while it was taken over`;
  throw new WireFault(wireError.passing, message, undefined);
}

/**
 * For a line that may find a run of another contract, where states and functions are not pinned. One whose records all fit goes on; what was
 * approved before is asked for again, where it goes back by itself. Anything else wants somebody to say so, by a resume that names the
 * version. @returns the run's history under this contract. @throws WireFault by which the run is parked.
 */
export async function ownRun(
  agent: Agent,
  history: RunHistory,
  entry: Pick<LineEntry, "runId" | "execution">,
  ports: NodePorts,
): Promise<RunHistory> {
  const at = positionAhead(history);
  let comparison: PlaceComparison;
  try {
    refuseRetired(agent, history.run);
    if (history.run.contract_digest === contractDigest(agent)) return history;
    checkSteps(history.steps, agent);
    comparison = await compareRun(agent, history, ports);
    if (comparison.verdict === "migrate" || comparison.verdict === "incompatible") {
      throw versionRefused(history.run, comparison, at);
    }
  } catch (error) {
    throw await failRestore(history.run, at, error, ports);
  }
  await take(agent, history, comparison.voids.length === 0, ports);
  return readOwned(entry, ports);
}

/** @returns false where somebody else moved the run meanwhile, and it has to be looked at anew. */
async function tryTaking(agent: Agent, history: RunHistory, entry: LineEntry, ports: NodePorts): Promise<boolean> {
  const { run, steps } = history;
  const own = contractDigest(agent);
  const last = steps.at(-1);
  const at = positionAhead(history);
  try {
    refuseRetired(agent, run);
    if (run.contract_digest === own) return await take(agent, history, undefined, ports);
    const adopted =
      last?.kind === ADOPTION ? Adoption.parse(await unpackValue(ports.payloads, last.output)) : undefined;
    // Recorded by an invocation that died before it could say so.
    if (adopted?.to.contract_digest === own) return await take(agent, history, adopted.decisions_hold, ports);

    const comparison = await compareRun(agent, history, ports);
    if (comparison.verdict === "same" || comparison.verdict === "compatible")
      return await take(agent, history, true, ports);
    // What only has its end to take needs no other version for it.
    const stays = comparison.goesOnAt === undefined || run.compensation !== undefined || last?.next === END;
    if (stays) throw versionRefused(run, comparison, at);
    return await adopt(agent, history, comparison, entry, ports);
  } catch (error) {
    throw await failRestore(run, at, error, ports);
  }
}

async function adopt(
  agent: Agent,
  history: RunHistory,
  comparison: PlaceComparison,
  entry: LineEntry,
  ports: NodePorts,
): Promise<boolean> {
  // A migration that cannot do it closes no question.
  await stateFor(agent, history, comparison, ports);
  const asked = openApproval(history);
  if (asked) {
    const answer = await supersedePending(asked, "version_changed", ports);
    // Somebody decided at this moment.
    if (answer.next !== asked.node) return false;
  }
  const closed = asked ? await readOwned(entry, ports) : history;
  const record = await recordOf(agent, closed, comparison, ports);
  const { record: found } = await ports.log.append(record);
  if (found.write_id !== record.write_id) return false;
  for (const approval of comparison.voids) await voidDecision(approval, closed, ports);
  return take(agent, closed, comparison.voids.length === 0, ports);
}

const openApproval = ({ waiters, steps }: RunHistory): Waiter | undefined =>
  waiters.find(({ kind, position }) => kind === "approval" && !steps.some((step) => step.position === position));

async function stateFor(
  agent: Agent,
  { run, steps }: RunHistory,
  { from, to, migrations }: PlaceComparison,
  ports: NodePorts,
) {
  const { state } = await foldState(run, steps, ports.payloads);
  return migrations.length === 0
    ? state
    : migrateState(migrationsBetween(agent.migrations ?? [], from, to) ?? [], state);
}

async function recordOf(
  agent: Agent,
  history: RunHistory,
  comparison: PlaceComparison,
  ports: NodePorts,
): Promise<Step> {
  const { run } = history;
  const position = positionAhead(history);
  const own = contractDigest(agent);
  const adoption: Adoption = {
    from: { workflow_version: run.workflow_version, contract_digest: run.contract_digest },
    to: { workflow_version: agent.version, contract_digest: own },
    verdict: comparison.verdict === "migrate" ? "migrate" : "reapprove",
    migrations: comparison.migrations.map(({ from, to }) => ({ from, to })),
    decisions_hold: comparison.voids.length === 0,
    state: await stateFor(agent, history, comparison, ports),
  };
  return {
    run_id: run.run_id,
    position,
    node: nodeAt(position),
    kind: ADOPTION,
    fingerprint: own.slice(0, 16),
    outcome: "done",
    output: await packValue(ports.payloads, run.run_id, adoption),
    next: comparison.goesOnAt ?? END,
    workflow_version: agent.version,
    created_at: isoTime(ports.clock.nowMs()),
    write_id: ports.ids.next(),
  };
}

/** A yes that was given under the version before shows that it counts no more. */
async function voidDecision(approval: string, { steps, waiters }: RunHistory, ports: NodePorts): Promise<void> {
  const answer = steps.findLast((step) => step.node === approval && step.kind === "approval");
  const waiter = waiters.find(({ position }) => position === answer?.position);
  if (!waiter || waiter.superseded) return;
  await supersedeDecision(
    waiterId(waiter.run_id, waiter.position),
    { reason: "version_changed", comment: undefined },
    ports,
  );
}

/** The run is this version's from now on. `decisionsHold` says whether what was approved before still counts; undefined where nothing changes. */
async function take(
  agent: Agent,
  { run }: RunHistory,
  decisionsHold: boolean | undefined,
  ports: NodePorts,
): Promise<boolean> {
  const own = contractDigest(agent);
  if (decisionsHold === undefined && !run.moving_to) return true;
  const before = decisionsHold === false ? [] : (run.compatible_with ?? []);
  const holding = decisionsHold && run.workflow_version !== agent.version ? [run.workflow_version] : [];
  const held = await ports.log.change(run, openRunStatuses, {
    status: "RUNNING",
    // Kept as at a start: whoever takes it over next reads it.
    contract_digest: await keepContract(agent, ports),
    workflow_version: agent.version,
    compatible_with: [...new Set([...before, ...holding])],
    ...(run.moving_to && { state_machine_arn: run.moving_to.state_machine_arn }),
  });
  if (held && run.contract_digest !== own) {
    ports.logger.info("run taken over", {
      run_id: run.run_id,
      workflow_id: run.workflow_id,
      workflow_version: agent.version,
      from_version: run.workflow_version,
      decisions_hold: decisionsHold ?? true,
    });
  }
  return held;
}
