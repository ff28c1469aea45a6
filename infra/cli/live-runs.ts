import { z } from "zod";
import { Manifest } from "../../shared/contract/manifest.ts";
import { footholdOf } from "../../shared/contract/foothold.ts";
import { openRunStatuses } from "../../shared/runlog/run-record.ts";
import { parseWaiterId } from "../../shared/waiter/waiter.ts";
import type { LiveRun } from "../contract/check-contract.ts";
import type { ApiClient } from "./api-client.ts";
import { Runs } from "./api-shapes.ts";
import { CliError } from "./cli-error.ts";
import { queryOf } from "./session.ts";

/** Rows that the API lists at most. */
const listedMax = 200;
/** Requests at a time: enough to hide the way there and back, few enough for a small account. */
const atOnce = 10;

const Shown = z.object({
  run_id: z.string(),
  workflow_version: z.number(),
  contract_digest: z.string(),
  entry: z.string(),
  compensation: z.unknown().optional(),
  steps: z.array(
    z.object({
      position: z.string(),
      node: z.string(),
      kind: z.string(),
      fingerprint: z.string(),
      next: z.string(),
      operation_id: z.string().optional(),
    }),
  ),
  operations: z.array(z.object({ operation_id: z.string(), position: z.string(), status: z.string() })),
  waiters: z.array(
    z.object({
      waiter_id: z.string(),
      node: z.string(),
      kind: z.string(),
      status: z.string(),
      routes: z.record(z.string(), z.string()),
    }),
  ),
});

export interface LiveRuns {
  readonly runs: readonly LiveRun[];
  /** Whether the API may have more open runs than it lists. */
  readonly isCut: boolean;
}

/** The open runs of an agent in a deployed stack, each where it stands and with its contract. */
export async function liveRuns(api: ApiClient, agent: string): Promise<LiveRuns> {
  const lists = await Promise.all(
    openRunStatuses.map(async (status) => {
      const query = queryOf({ agent, status, limit: String(listedMax) });
      return Runs.parse(await api.get(`/runs${query}`)).runs;
    }),
  );
  const contracts = new Map<string, Promise<Manifest | undefined>>();
  const contractOf = (digest: string) => {
    const asked = contracts.get(digest) ?? readContract(api, digest);
    contracts.set(digest, asked);
    return asked;
  };
  const ids = [...new Set(lists.flat().map((run) => run.run_id))];
  const runs: LiveRun[] = [];
  for (let from = 0; from < ids.length; from += atOnce) {
    runs.push(...(await Promise.all(ids.slice(from, from + atOnce).map((id) => liveRun(api, id, contractOf)))));
  }
  return { runs, isCut: lists.some((list) => list.length >= listedMax) };
}

async function liveRun(
  api: ApiClient,
  id: string,
  contractOf: (digest: string) => Promise<Manifest | undefined>,
): Promise<LiveRun> {
  const shown = Shown.parse(await api.get(`/runs/${encodeURIComponent(id)}`));
  const waiters = shown.waiters.map((waiter) => ({
    ...waiter,
    position: parseWaiterId(waiter.waiter_id)?.position ?? "",
  }));
  const contract = await contractOf(shown.contract_digest);
  return {
    run: id,
    version: shown.workflow_version,
    contract,
    foothold: footholdOf({ run: shown, steps: shown.steps, waiters }, shown.operations, contract),
  };
}

/** Runs of before contracts were kept have none. */
async function readContract(api: ApiClient, digest: string): Promise<Manifest | undefined> {
  try {
    return Manifest.parse(await api.get(`/contracts/${digest}`));
  } catch (error) {
    if (error instanceof CliError && error.code === "unknown_contract") return undefined;
    throw error;
  }
}
