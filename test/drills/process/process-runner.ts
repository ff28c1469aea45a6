import { exitWithParent } from "../../../infra/local/child-process.ts";
import { startLocalRunner } from "../../../infra/local/local-runner.ts";
import { deliveryQueueSettings } from "../../../shared/sqs/delivery-queue-settings.ts";
import { agentModule } from "../../e2e/stage.ts";

/** A quick agent's longest node and its bookkeeping fit. A dead attempt's lease lapses at most one second later. */
const stepTimeoutSeconds = 15;
const sweepEveryMs = 2_000;
/** The least that AWS takes, the worker's own time: a message in the hands of a killed worker comes again within the drill. */
const { workerTimeoutSeconds: visibilityTimeoutSeconds } = deliveryQueueSettings(stepTimeoutSeconds);

export const drilledAgent = "quick-refund";

export interface ProcessRunnerReady {
  readonly url: string;
  readonly resumed: readonly string[];
}

/** A program: the local runner alone, which is killed with -9 and started again on the same folder. The other side lives elsewhere. */
async function main(folder: string, agentEnvironment: Readonly<Record<string, string>>): Promise<void> {
  exitWithParent();
  const { url, resumed } = await startLocalRunner({
    folder,
    agents: [{ modulePath: agentModule(drilledAgent), environment: agentEnvironment }],
    settings: { stepTimeoutSeconds },
    deliveries: { visibilityTimeoutSeconds },
    sweepEveryMs,
  });
  process.send?.({ url, resumed } satisfies ProcessRunnerReady);
}

const [folder, environment] = process.argv.slice(2);
if (folder !== undefined && environment !== undefined) {
  await main(folder, JSON.parse(environment) as Record<string, string>); // only runner-lives.ts starts it
}
