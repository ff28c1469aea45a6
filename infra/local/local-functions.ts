import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DeliveryQueueSettings } from "../../shared/sqs/delivery-queue-settings.ts";
import { type CompiledAgent } from "../../shared/index.ts";
import { envNames } from "../../lambdas/env.ts";
import { bundleLambda } from "../bundle-lambda.ts";
import { lambdaEntry, type LambdaEntry } from "../lambda-entry.ts";
import { functionArn } from "./lambda/function-name.ts";
import { keepLocalRelease, type LocalRelease } from "./local-releases.ts";
import type { LambdaDefinition } from "./lambda/lambda-definition.ts";

const region = "us-east-1";
/** Functions without agent code: a few reads and writes. */
const platformTimeoutMs = 15_000;
/** A page of lookups, each with its tool's own timeout. */
const sweepTimeoutMs = 120_000;

export const localFunctionArn = (name: string, qualifier?: string): string =>
  functionArn(region, { name, ...(qualifier !== undefined && { qualifier }) });
export const stepFunctionName = (agent: string): string => `step-${agent}`;

/** An agent to run, where its module lies, and what its tools find in their environment. */
export interface LocalAgent {
  readonly compiled: CompiledAgent;
  readonly modulePath: string;
  readonly environment: Readonly<Record<string, string>>;
}

export interface LocalFunctionSettings {
  readonly bundlesFolder: string;
  readonly payloadsFolder: string;
  readonly dynamoEndpoint: string;
  readonly stepFunctionsEndpoint: string;
  readonly sqsEndpoint: string;
  readonly deliveryQueueUrl: string;
  readonly lambdaEndpoint: string;
  readonly stepTimeoutMs: number;
  readonly delivery: DeliveryQueueSettings;
  /** How people are told about approvals, and by which keys their links are signed. */
  readonly notices: Readonly<Record<string, string>>;
}

/** Bundles what an agent runs and keeps it as a release. */
export async function releaseAgent(
  { compiled, modulePath }: LocalAgent,
  { folder, bundlesFolder }: { readonly folder: string; readonly bundlesFolder: string },
  releasedAt: string,
): Promise<LocalRelease> {
  const bundle = await bundleLambda({
    entry: lambdaEntry("step"),
    agentModules: [modulePath],
    outdir: join(bundlesFolder, stepFunctionName(compiled.name)),
  });
  return keepLocalRelease(folder, compiled, bundle, releasedAt);
}

/** What this process has bundled: a function without agent code is the same in every runner that it starts. */
const bundled = new Map<LambdaEntry, Promise<string>>();

async function bundleOnce(entry: LambdaEntry, outdir: string): Promise<string> {
  const known = bundled.get(entry);
  if (known === undefined) {
    const built = bundleLambda({ entry: lambdaEntry(entry), outdir });
    bundled.set(
      entry,
      built.then(({ file }) => readFile(file, "utf8")),
    );
    return (await built).file;
  }
  const file = join(outdir, "index.mjs");
  await mkdir(outdir, { recursive: true });
  await writeFile(file, await known);
  return file;
}

/**
 * Every function of the stack, bundled the same way as for AWS, with endpoints that lead to this machine. An agent's own function is there
 * in each of its releases.
 */
export async function localFunctions(
  agents: readonly LocalAgent[],
  releases: readonly LocalRelease[],
  stateMachines: Readonly<Record<string, string>>,
  settings: LocalFunctionSettings,
): Promise<readonly LambdaDefinition[]> {
  const base = {
    [envNames.runsTable]: "runs",
    [envNames.ledgerTable]: "ledger",
    [envNames.payloadsFolder]: settings.payloadsFolder,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    AWS_ENDPOINT_URL_DYNAMODB: settings.dynamoEndpoint,
    AWS_ENDPOINT_URL_SFN: settings.stepFunctionsEndpoint,
    AWS_ENDPOINT_URL_SQS: settings.sqsEndpoint,
    AWS_ENDPOINT_URL_LAMBDA: settings.lambdaEndpoint,
    [envNames.deliveryQueueUrl]: settings.deliveryQueueUrl,
    POWERTOOLS_METRICS_NAMESPACE: "Surefoot",
  };
  const define = async (
    name: string,
    entry: LambdaEntry,
    timeoutMs: number,
    environment: Readonly<Record<string, string>> = {},
    agentModules: string[] = [],
  ): Promise<LambdaDefinition> => {
    const outdir = join(settings.bundlesFolder, name);
    const bundleFile =
      agentModules.length === 0
        ? await bundleOnce(entry, outdir)
        : (await bundleLambda({ entry: lambdaEntry(entry), agentModules, outdir })).file;
    return { name, bundleFile, environment: { ...base, ...environment }, timeoutMs, memoryMb: 512 };
  };
  const modules = agents.map((agent) => agent.modulePath);
  const steps = releases.map((release): LambdaDefinition => {
    // As it is set up today: its secrets are nowhere but there.
    const today = agents.find(({ compiled }) => compiled.name === release.agent)?.environment;
    return {
      name: `${stepFunctionName(release.agent)}:${release.number}`,
      bundleFile: release.bundleFile,
      environment: { ...base, ...today },
      timeoutMs: settings.stepTimeoutMs,
      memoryMb: 512,
    };
  });
  const others = await Promise.all([
    define("wait", "wait", platformTimeoutMs, settings.notices),
    define("settle", "settle", platformTimeoutMs),
    define("start", "start", platformTimeoutMs, { [envNames.stateMachines]: JSON.stringify(stateMachines) }, modules),
    define("read", "read", platformTimeoutMs, {
      [envNames.agentNames]: agents.map((agent) => agent.compiled.name).join(","),
    }),
    define("decide", "decide", platformTimeoutMs, settings.notices),
    define("review", "review", platformTimeoutMs, settings.notices),
    define("control", "control", platformTimeoutMs),
    define("sweep", "sweep", sweepTimeoutMs, settings.notices),
    define("deliver", "deliver", settings.delivery.workerTimeoutSeconds * 1_000, {
      [envNames.receivesMax]: String(settings.delivery.receivesMax),
    }),
  ]);
  return [...steps, ...others];
}
