import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { SQSClient } from "@aws-sdk/client-sqs";
import { apiRoutes } from "../../lambdas/api-routes.ts";
import { systemClock } from "../../lambdas/adapters/system-clock.ts";
import { keepContract } from "../../shared/contract/kept-contract.ts";
import {
  compileAgent,
  type CompileSettings,
  compileSettingsDefault,
  ledgerTable,
  runsTable,
} from "../../shared/index.ts";
import type { Notice } from "../../shared/notify/notice.ts";
import { isoTime } from "../../shared/ports/clock.ts";
import type { Release } from "../../shared/release/release.ts";
import { type DeliveryQueueSettings, deliveryQueueSettings } from "../../shared/sqs/delivery-queue-settings.ts";
import { startLocalDynamo } from "./dynamo/local-dynamo.ts";
import { startHttpApi } from "./http-api/http-api.ts";
import { startLambdaEndpoint } from "./lambda/lambda-endpoint.ts";
import { createLambdaPool, type LambdaPool } from "./lambda/lambda-pool.ts";
import { loadAgents } from "./load-agents.ts";
import { localAws } from "./local-aws.ts";
import { prepareNotices, watchNotices } from "./local-notices.ts";
import {
  type LocalAgent,
  localFunctionArn,
  localFunctions,
  releaseAgent,
  stepFunctionName,
} from "./local-functions.ts";
import { type LocalRelease, readLocalReleases } from "./local-releases.ts";
import { openStore, resumeOpenRuns } from "./local-store.ts";
import { type InvokeFunction, type SqsEventSourceOptions, startEventSource } from "./sqs/event-source.ts";
import { startLocalSqs } from "./sqs/local-sqs.ts";
import type { QueueSchema } from "./sqs/queue-schema.ts";
import { stateMachineArn } from "./step-functions/arn.ts";
import { startStepFunctionsEndpoint } from "./step-functions/step-functions-endpoint.ts";
import { StepFunctionsService } from "./step-functions/step-functions-service.ts";

/** Locally a person watches: an invocation that died is taken up again after its lease, and the lease follows this. Whole seconds. */
export const localStepTimeoutSeconds = 25;
const sweepEveryMsDefault = 15_000;

export interface LocalRunnerOptions {
  /** Everything lies here: tables, payloads, bundles, logs. */
  readonly folder: string;
  readonly agents: readonly { readonly modulePath: string; readonly environment?: Readonly<Record<string, string>> }[];
  /** @default a free one */
  readonly port?: number;
  /** @default as on AWS */
  readonly settings?: Partial<CompileSettings>;
  /** Where the functions find DynamoDB, given where it is: a drill puts a proxy between. @default straight */
  readonly dynamoEndpointFor?: (endpoint: string) => Promise<string>;
  /** Where the functions find Step Functions, given where it is: a test puts another interpreter there. @default straight */
  readonly stepFunctionsEndpointFor?: (endpoint: string) => Promise<string>;
  /** What lies between the delivery queue and its worker. @default as on AWS */
  readonly deliveries?: LocalDeliveries;
  /** Between two sweeps. @default 15 s: a person watches */
  readonly sweepEveryMs?: number;
  /** People who are sent links of their own: name → roles, separated by commas. @default nobody: notices lead to the page of the approval */
  readonly approvers?: Readonly<Record<string, string>>;
  /** A chat's webhook that is told about approvals too, and in whose name its readers decide. @default none */
  readonly webhook?: { readonly url: string; readonly approver?: string };
  /** Told what people are told about approvals. Its link is a secret. @default nobody */
  readonly onNotice?: (notice: Notice) => void;
  /** One line per thing worth saying. @default nobody */
  readonly onLine?: (line: string) => void;
}

/** A drill hands out more at once, again, or to nobody. */
export interface LocalDeliveries extends Partial<Pick<SqsEventSourceOptions, "batchSize" | "concurrency">> {
  /** Receives before a message goes to the dead letter queue. */
  readonly receivesMax?: number;
  /** How long a message stays unseen that a worker died with; at least the worker's own time. */
  readonly visibilityTimeoutSeconds?: number;
  /** What the queue calls, given what calls the worker. */
  readonly invokeFor?: (invoke: InvokeFunction) => InvokeFunction;
}

export interface LocalRunner {
  /** Of the HTTP API. */
  readonly url: string;
  readonly lambdas: LambdaPool;
  /** Name under which `lambdas` has the function of an agent's newest release. */
  functionOf(agent: string): string;
  readonly stepFunctions: StepFunctionsService;
  readonly stepFunctionsEndpoint: string;
  readonly dynamoEndpoint: string;
  /** Where SQS is, and the URLs of the delivery queue and of its dead letter queue. */
  readonly sqs: { readonly endpoint: string; readonly deliveries: string; readonly deadLetters: string };
  /** Runs taken up again from the log when it started. */
  readonly resumed: readonly string[];
  stop(): Promise<void>;
}

/**
 * Runs agents on this machine: the compiled states and the bundled Lambdas, each in its own process, over real protocols. Whatever was
 * running when the last runner died goes on from the log.
 */
export async function startLocalRunner(options: LocalRunnerOptions): Promise<LocalRunner> {
  const folder = resolve(options.folder);
  const payloadsFolder = join(folder, "payloads");
  mkdirSync(payloadsFolder, { recursive: true });
  const settings: CompileSettings = {
    ...compileSettingsDefault,
    stepTimeoutSeconds: localStepTimeoutSeconds,
    ...options.settings,
  };
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    const loaded = await loadAgents(
      options.agents.map((agent) => agent.modulePath),
      folder,
    );
    const agents: LocalAgent[] = loaded.map((agent, index) => ({
      compiled: compileAgent(agent, settings),
      modulePath: options.agents[index]?.modulePath ?? "",
      environment: options.agents[index]?.environment ?? {},
    }));
    const dynamo = await startLocalDynamo({ path: join(folder, "dynamo"), tables: [runsTable, ledgerTable] });
    stops.push(() => dynamo.stop());
    const pool = createLambdaPool({ logsDir: join(folder, "logs") });
    stops.push(() => pool.stop());
    const service = new StepFunctionsService({ invokeLambda: (name, payload) => pool.invoke(name, payload) });
    const engine = await startStepFunctionsEndpoint(service);
    stops.push(() => engine.close());
    // Else the timer of a run that waits for a person keeps the stopped runner's process alive for days.
    stops.push(async () => service.close());

    const functionsEndpoint = await startLambdaEndpoint({ invoke: (name, payload) => pool.invoke(name, payload) });
    stops.push(() => functionsEndpoint.stop());
    const {
      receivesMax,
      visibilityTimeoutSeconds,
      invokeFor = (invoke: InvokeFunction) => invoke,
      ...batches
    } = options.deliveries ?? {};
    const delivery = {
      ...deliveryQueueSettings(settings.stepTimeoutSeconds),
      ...(receivesMax !== undefined && { receivesMax }),
      ...(visibilityTimeoutSeconds !== undefined && { visibilityTimeoutSeconds }),
    };
    const sqs = await startLocalSqs({ queues: [deliveryQueueOf(delivery)] });
    stops.push(() => sqs.stop());

    // It listens before there are functions, since links need its address; whoever comes early waits.
    let open = () => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    const api = await startHttpApi({
      port: options.port ?? 0,
      routes: apiRoutes,
      invoke: (name, payload) => opened.then(() => pool.invoke(name, payload)),
    });
    stops.push(() => api.stop());
    const notices = prepareNotices({
      folder,
      url: api.url,
      approvers: options.approvers ?? {},
      webhook: options.webhook,
    });
    const { onNotice } = options;
    if (onNotice) {
      const endWatch = watchNotices(notices.file, onNotice);
      stops.push(async () => endWatch());
    }

    const bundlesFolder = join(folder, "bundles");
    const now = () => isoTime(systemClock.nowMs());
    const newest = await Promise.all(agents.map((agent) => releaseAgent(agent, { folder, bundlesFolder }, now())));
    const releases = agents.flatMap(({ compiled }) => readLocalReleases(folder, compiled.name));
    for (const release of [...releases].reverse()) publish(release, service);
    const stateMachines = Object.fromEntries(newest.map((release) => [release.agent, versionArn(release)]));
    const functions = await localFunctions(agents, releases, stateMachines, {
      bundlesFolder,
      payloadsFolder,
      dynamoEndpoint: (await options.dynamoEndpointFor?.(dynamo.endpoint)) ?? dynamo.endpoint,
      stepFunctionsEndpoint: (await options.stepFunctionsEndpointFor?.(engine.url)) ?? engine.url,
      sqsEndpoint: sqs.endpoint,
      deliveryQueueUrl: sqs.urlOf(deliveryQueueName),
      lambdaEndpoint: functionsEndpoint.endpoint,
      delivery,
      stepTimeoutMs: settings.stepTimeoutSeconds * 1_000,
      notices: notices.environment,
    });
    for (const definition of functions) pool.register(definition);

    const deliveries = await startEventSource({
      client: new SQSClient({ ...localAws, endpoint: sqs.endpoint }),
      queueUrl: sqs.urlOf(deliveryQueueName),
      functionName: "deliver",
      invoke: invokeFor((name, payload) => pool.invoke(name, payload)),
      batchSize: 1,
      ...batches,
      onError: (error) => options.onLine?.(error.message),
    });
    stops.push(() => deliveries.stop());

    const store = openStore(dynamo.endpoint, engine.url, payloadsFolder);
    stops.push(async () => store.close());
    for (const agent of loaded) await keepContract(agent, store);
    for (const release of newest) await store.releases.keep(releaseRecord(release));
    const resumed = await resumeOpenRuns(
      loaded.map(({ name }) => name),
      store,
      options.onLine,
    );
    open();
    stops.push(sweepEvery(options.sweepEveryMs ?? sweepEveryMsDefault, pool));
    return {
      url: api.url,
      lambdas: pool,
      functionOf: (agent) => `${stepFunctionName(agent)}:${newest.find((one) => one.agent === agent)?.number ?? 1}`,
      stepFunctions: service,
      stepFunctionsEndpoint: engine.url,
      dynamoEndpoint: dynamo.endpoint,
      sqs: {
        endpoint: sqs.endpoint,
        deliveries: sqs.urlOf(deliveryQueueName),
        deadLetters: sqs.urlOf(deadLetterQueueName),
      },
      resumed,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const deliveryQueueName = "deliveries.fifo";
const deadLetterQueueName = "dead-deliveries.fifo";

const deliveryQueueOf = ({ visibilityTimeoutSeconds, receivesMax }: DeliveryQueueSettings): QueueSchema => ({
  name: deliveryQueueName,
  visibilityTimeoutSeconds,
  maxReceiveCount: receivesMax,
  deadLetterName: deadLetterQueueName,
});

/** What EventBridge's schedule does. One at a time: a sweep that takes longer delays the next. @returns what ends it. */
function sweepEvery(everyMs: number, pool: LambdaPool): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const next = () => {
    if (stopped) return;
    timer = setTimeout(() => void pool.invoke("sweep", {}).then(next), everyMs);
  };
  next();
  return () => {
    stopped = true;
    clearTimeout(timer);
    return Promise.resolve();
  };
}

/** The states of a release, pinned to its function. The functions without agent code are today's. */
function publish(release: LocalRelease, service: StepFunctionsService): void {
  const definition = release.definition
    .replaceAll("${StepFunctionArn}", localFunctionArn(stepFunctionName(release.agent), String(release.number)))
    .replaceAll("${WaitFunctionArn}", localFunctionArn("wait"))
    .replaceAll("${SettleFunctionArn}", localFunctionArn("settle"));
  service.publishVersion({ name: release.agent, version: release.number, definition });
}

const versionArn = ({ agent, number }: LocalRelease): string => `${stateMachineArn(agent)}:${number}`;

const releaseRecord = (release: LocalRelease): Release => ({
  agent: release.agent,
  workflow_version: release.workflow_version,
  contract_digest: release.contract_digest,
  state_machine_arn: versionArn(release),
  released_at: release.released_at,
});
