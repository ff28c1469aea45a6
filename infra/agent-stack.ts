import { CfnOutput, Duration, Stack, type StackProps } from "aws-cdk-lib";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import type { ApiFunction } from "../lambdas/api-routes.ts";
import { envNames } from "../lambdas/env.ts";
import { compileSettingsDefault } from "../shared/compile/compile-settings.ts";
import { manifestDigest } from "../shared/contract/manifest.ts";
import { AgentAlarms } from "./agent-alarms.ts";
import { AgentApi, apiTimeout } from "./agent-api.ts";
import { AgentStore } from "./agent-store.ts";
import { ApprovalNotices, type NoticeOptions } from "./approval-notices.ts";
import type { ApiAuth } from "./api-auth.ts";
import type { FunctionEntry } from "./bundled-code.ts";
import { DeliveryQueue } from "./delivery-queue.ts";
import { DurableAgent, type DurableAgentProps } from "./durable-agent.ts";
import { contextKeys, contextList } from "./context.ts";
import { PlatformFunction, type PlatformFunctionProps } from "./platform-function.ts";
import { ReleaseRegistry } from "./release-registry.ts";
import { storeAccess } from "./store-access.ts";
import { SweepSchedule } from "./sweep-schedule.ts";

export interface DeployedAgent extends Pick<
  DurableAgentProps,
  "agent" | "settings" | "environment" | "secrets" | "bedrockModelArns" | "memoryMb"
> {
  /** Path of the module whose default export is `agent`. */
  readonly modulePath: string;
}

export interface AgentStackProps extends Omit<StackProps, "stackName" | "terminationProtection"> {
  /** At least one; their names differ. */
  readonly agents: readonly DeployedAgent[];
  /** Part of every name, so that stages of one account do not meet. In `prod`, deleting the stack or a table takes a second decision. */
  readonly stage: string;
  /** @default iam */
  readonly auth?: ApiAuth;
  /** The address people reach the API at, where a domain or a proxy of your own stands before it. @default API Gateway's own */
  readonly publicUrl?: string;
  /** Who is told about approvals, and how. @default the stack's topic and the account's default event bus */
  readonly notices?: NoticeOptions;
  /** @default a customer managed key of the stack's own */
  readonly encryptionKey?: IKey;
  /** X-Ray. @default true */
  readonly tracing?: boolean;
  /** @default three months */
  readonly logRetention?: RetentionDays;
  /** @default context `surefoot:stateMachineVersions`, else true */
  readonly stateMachineVersions?: boolean;
  /** Agents whose open runs are given up when a deployment takes them away. @default context `surefoot:abandonRuns`, else none */
  readonly abandonRuns?: readonly string[];
}

/** Wait and settle make a few reads and writes; the states give them a minute, and they end first. */
const platformTimeout = Duration.seconds(45);
/** Keeps a few records, and reads the index of what is open. */
const releaseTimeout = Duration.minutes(2);
/** Ends before the next one begins. */
const sweepTimeout = Duration.minutes(4);

/** Agents, their store and their HTTP API: everything of one stage. */
export class AgentStack extends Stack {
  readonly store: AgentStore;
  readonly agents: readonly DurableAgent[];
  readonly api: AgentApi;
  readonly deliveries: DeliveryQueue;
  readonly alarms: AgentAlarms;
  readonly notices: ApprovalNotices;
  readonly releases: ReleaseRegistry;
  readonly #props: AgentStackProps;

  constructor(scope: Construct, id: string, props: AgentStackProps) {
    const {
      agents,
      stage,
      auth,
      publicUrl,
      notices,
      encryptionKey,
      tracing,
      logRetention,
      stateMachineVersions,
      abandonRuns,
      ...stackProps
    } = props;
    checkStage(stage);
    checkAgents(agents);
    const isProd = stage === "prod";
    super(scope, id, { ...stackProps, stackName: `surefoot-${stage}`, terminationProtection: isProd });
    this.#props = props;
    this.store = new AgentStore(this, "Store", {
      deletionProtection: isProd,
      ...(encryptionKey && { encryptionKey }),
    });

    this.api = new AgentApi(this, "Api", {
      ...(auth && { auth }),
      ...(publicUrl !== undefined && { publicUrl }),
      ...(logRetention !== undefined && { logRetention }),
    });
    this.notices = new ApprovalNotices(this, "Notices", {
      ...notices,
      key: this.store.key,
      publicUrl: this.api.publicUrl,
    });

    const wait = this.#platformFunction("wait", "Wait", platformTimeout);
    this.notices.bindTeller(wait);
    const settle = this.#platformFunction("settle", "Settle", platformTimeout);
    this.agents = agents.map(
      ({ modulePath, ...agent }) =>
        new DurableAgent(this, agent.agent.name, {
          ...agent,
          ...this.#common(),
          agentModule: modulePath,
          store: this.store,
          wait,
          settle,
          ...(stateMachineVersions !== undefined && { stateMachineVersions }),
        }),
    );

    const steps = agents.map(({ settings }) => (settings ?? compileSettingsDefault).stepTimeoutSeconds);
    this.deliveries = new DeliveryQueue(this, "Deliveries", {
      key: this.store.key,
      stepTimeoutSeconds: Math.max(...steps),
    });
    const sweep = this.#backgroundFunctions();
    const functions = this.#apiFunctions();
    this.alarms = new AgentAlarms(this, "Alarms", {
      agents: this.agents.map(({ compiled }) => compiled.name),
      deadLetters: this.deliveries.deadLetters,
      sweep,
    });
    this.api.addRoutes(functions);
    this.releases = this.#releaseRegistry(abandonRuns ?? contextList(this.node, contextKeys.abandonRuns));
    this.#outputs();
  }

  #releaseRegistry(abandonRuns: readonly string[]): ReleaseRegistry {
    const release = this.#platformFunction("release", "Release", releaseTimeout, {
      agentModules: this.#agentModules(),
    });
    const others = this.node.children.slice();
    const registry = new ReleaseRegistry(this, "Releases", { release, agents: this.agents, abandonRuns });
    registry.comesAfter(others);
    return registry;
  }

  #agentModules(): readonly string[] {
    return this.#props.agents.map(({ modulePath }) => modulePath);
  }

  #apiFunctions(): Readonly<Record<ApiFunction, PlatformFunction>> {
    // Checks a run's input against the agent's schema, so it carries all agents.
    const start = this.#platformFunction("start", "Start", apiTimeout, {
      agentModules: this.#agentModules(),
      environment: {
        [envNames.stateMachines]: this.toJsonString(
          Object.fromEntries(this.agents.map(({ compiled, startArn }) => [compiled.name, startArn])),
        ),
        [envNames.contracts]: JSON.stringify(
          Object.fromEntries(this.agents.map(({ compiled }) => [compiled.name, manifestDigest(compiled.manifest)])),
        ),
      },
    });
    const read = this.#platformFunction("read", "Read", apiTimeout, {
      environment: { [envNames.agentNames]: this.agents.map(({ compiled }) => compiled.name).join(",") },
    });
    const decide = this.#platformFunction("decide", "Decide", apiTimeout);
    const control = this.#platformFunction("control", "Control", apiTimeout);
    const review = this.#platformFunction("review", "Review", apiTimeout);
    this.notices.bindTeller(decide);
    this.notices.bindReader(review);
    for (const agent of this.agents) {
      agent.allowStart(start);
      agent.allowAnswer(decide);
      agent.allowAnswer(review);
      agent.allowStart(control);
      agent.allowAnswer(control);
    }
    return { start, read, decide, control, review };
  }

  /** What works without anybody asking: the queue's worker and the sweep. Both have the runs' own functions do what needs agent code. */
  #backgroundFunctions(): PlatformFunction {
    const deliver = this.#platformFunction(
      "deliver",
      "Deliver",
      Duration.seconds(this.deliveries.settings.workerTimeoutSeconds),
    );
    this.deliveries.bindWorker(deliver);
    const sweep = this.#platformFunction("sweep", "Sweep", sweepTimeout);
    this.deliveries.bindSender(sweep);
    this.notices.bindTeller(sweep);
    for (const agent of this.agents) {
      this.deliveries.bindSender(agent.step);
      for (const fn of [deliver, sweep]) {
        agent.allowStart(fn);
        agent.allowAnswer(fn);
        agent.allowStep(fn);
      }
      agent.allowLook(sweep);
    }
    new SweepSchedule(this, "SweepSchedule", { sweep });
    return sweep;
  }

  #platformFunction(
    entry: FunctionEntry,
    id: string,
    timeout: Duration,
    more: Pick<PlatformFunctionProps, "agentModules" | "environment"> = {},
  ): PlatformFunction {
    const fn = new PlatformFunction(this, id, { entry, timeout, ...more, ...this.#common() });
    this.store.bindTo(fn, storeAccess[entry]);
    return fn;
  }

  #common() {
    const { tracing, logRetention } = this.#props;
    return { ...(tracing !== undefined && { tracing }), ...(logRetention !== undefined && { logRetention }) };
  }

  #outputs(): void {
    const { runs, ledger, payloads, key } = this.store;
    const output = (id: string, value: string, description: string) => new CfnOutput(this, id, { value, description });
    output("ApiUrl", this.api.url, "Where runs are started, looked at and decided");
    output("RunsTableName", runs.table.tableName, "The run log");
    output("LedgerTableName", ledger.table.tableName, "The ledger of operations");
    output("PayloadsBucketName", payloads.bucket.bucketName, "Values too large for a table");
    output(
      "KeptAfterDestroy",
      [
        `aws dynamodb delete-table --table-name ${runs.table.tableName}`,
        `aws dynamodb delete-table --table-name ${ledger.table.tableName}`,
        `aws s3 rb s3://${payloads.bucket.bucketName} --force`,
        `aws kms schedule-key-deletion --key-id ${key.keyId}`,
      ].join(" && "),
      "cdk destroy keeps the data and its key. Note this down before: it deletes them for good",
    );
  }
}

/** Short and plain, because it becomes part of names with limits of their own. */
function checkStage(stage: string): void {
  if (/^[a-z][a-z0-9-]{0,19}$/u.test(stage)) return;
  throw new Error(`stage: expected up to 20 of a-z 0-9 - beginning with a letter, found "${stage}": choose another`);
}

function checkAgents(agents: readonly DeployedAgent[]): void {
  const names = agents.map(({ agent }) => agent.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`agents: expected different names, found "${twice}" twice: rename one`);
  if (names.length === 0) throw new Error("agents: expected at least one, found none: name an agent and its module");
}
