import type { Agent } from "../agent/agent.ts";
import { compareAt, type PlaceComparison } from "../contract/compare-at.ts";
import { footholdOf } from "../contract/foothold.ts";
import { readContract } from "../contract/kept-contract.ts";
import type { Manifest } from "../contract/manifest.ts";
import { manifestOf } from "../contract/manifest.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { RunHistory } from "../runlog/run-log.ts";
import type { RunPorts } from "./ports.ts";

export type ComparePorts = Pick<RunPorts, "log" | "payloads"> & { readonly ledger: Pick<Ledger, "read" | "listByRun"> };

/** Whether, and how, `agent` may continue a run, where the run stands now. */
export const compareRun = (agent: Agent, history: RunHistory, ports: ComparePorts): Promise<PlaceComparison> =>
  compareRunWith(manifestOf(agent), history, ports);

/** The same by the contract alone, for whoever has no agent code. */
export async function compareRunWith(
  current: Manifest,
  history: RunHistory,
  ports: ComparePorts,
): Promise<PlaceComparison> {
  const { run } = history;
  const recorded = await readContract(run.contract_digest, ports);
  const foothold = footholdOf(history, await operationsOf(history, ports), recorded);
  if (recorded) return compareAt(recorded, current, foothold);
  const because = `the contract that they were started under was not kept`;
  return {
    verdict: "incompatible",
    from: run.workflow_version,
    to: current.workflow_version,
    goesOnAt: undefined,
    asksAgain: false,
    voids: [],
    migrations: [],
    hurts: [{ node: undefined, runs: { where: "all" }, verdict: "incompatible", because }],
  };
}

/** Of those that the log names the consistent word; the index, which may lag, says whether there are more. */
async function operationsOf({ run, steps, waiters, failures }: RunHistory, { ledger }: ComparePorts) {
  const named = [
    ...steps.map((step) => step.operation_id),
    ...waiters.map((waiter) => waiter.operation_id),
    ...failures.map(({ error }) => error.facts["operation_id"]),
  ];
  const ids = new Set(named.filter((id) => typeof id === "string"));
  const listed = await ledger.listByRun(run.run_id);
  const others = listed.filter(({ operation_id }) => !ids.has(operation_id));
  const entries = await Promise.all([...ids].map((id) => ledger.read(id)));
  return [...entries.filter((entry) => entry !== undefined), ...others];
}
