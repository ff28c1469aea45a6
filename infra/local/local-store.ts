import { SFNClient } from "@aws-sdk/client-sfn";
import { systemClock } from "../../lambdas/adapters/system-clock.ts";
import { systemIds } from "../../lambdas/adapters/system-ids.ts";
import { createDocumentClient } from "../../shared/dynamo/dynamo-client.ts";
import { runsTable } from "../../shared/index.ts";
import type { Metrics } from "../../shared/metrics/metrics.ts";
import { folderPayloadStore } from "../../shared/payloads/folder-payload-store.ts";
import type { Logger } from "../../shared/ports/logger.ts";
import { dynamoReleases } from "../../shared/release/dynamo-releases.ts";
import { resumeRun } from "../../shared/run/resume-run.ts";
import { dynamoRunLog } from "../../shared/runlog/dynamo-run-log.ts";
import { sfnExecutions } from "../../shared/sfn/sfn-executions.ts";
import { localAws } from "./local-aws.ts";

export type LocalStore = ReturnType<typeof openStore>;

/** What the runner itself writes and starts. */
export function openStore(dynamoEndpoint: string, stepFunctionsEndpoint: string, payloadsFolder: string) {
  const client = createDocumentClient({ ...localAws, endpoint: dynamoEndpoint });
  const sfn = new SFNClient({ ...localAws, endpoint: stepFunctionsEndpoint });
  const time = { clock: systemClock, ids: systemIds };
  const log = dynamoRunLog({ client, table: runsTable.name, ...time });
  return {
    ...time,
    log,
    releases: dynamoReleases(client, runsTable.name),
    payloads: folderPayloadStore(payloadsFolder),
    metrics: silentMetrics,
    logger: silentLogger,
    executions: sfnExecutions(sfn),
    close() {
      client.destroy();
      sfn.destroy();
    },
  };
}

/** Executions live in memory: every open run of the last runner is taken up again. One that a person must mend first stays parked. */
export async function resumeOpenRuns(
  agents: readonly string[],
  store: LocalStore,
  onLine: ((line: string) => void) | undefined,
): Promise<readonly string[]> {
  const resumed: string[] = [];
  for (const run of await store.log.listOpenRuns()) {
    const waitsForPerson = run.status === "PARKED" && run.waiting_for === undefined;
    if (!agents.includes(run.agent) || waitsForPerson) continue;
    const outcome = await resumeRun(run.run_id, store);
    if (outcome.resumed) resumed.push(run.run_id);
    else onLine?.(outcome.why);
  }
  return resumed;
}

/** The runner itself has no metrics stream; the functions print theirs to their logs. */
const silentMetrics: Metrics = { add: () => undefined };
const silentLogger: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
