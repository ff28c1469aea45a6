import { z } from "zod";

/** Every environment name the Lambdas read, in one place: the CDK stack and the local runner set exactly these. */
export const envNames = {
  runsTable: "SUREFOOT_RUNS_TABLE",
  ledgerTable: "SUREFOOT_LEDGER_TABLE",
  /** One of the two: a bucket on AWS, a folder locally. */
  payloadsBucket: "SUREFOOT_PAYLOADS_BUCKET",
  payloadsFolder: "SUREFOOT_PAYLOADS_FOLDER",
  /** Start only: JSON `{ [agent]: ARN of the state machine, or of its version }`. */
  stateMachines: "SUREFOOT_STATE_MACHINES",
  /** Start only: JSON `{ [agent]: digest of the contract that those states were compiled from }`. Absent where code and states never part. */
  contracts: "SUREFOOT_CONTRACTS",
  /** Where queued operations go; absent where no agent of the stack queues. */
  deliveryQueueUrl: "SUREFOOT_DELIVERY_QUEUE_URL",
  /** Deliver only: receives before SQS moves a message to the dead letter queue. */
  receivesMax: "SUREFOOT_RECEIVES_MAX",
  /** Read only: the agents' names, separated by commas. */
  agentNames: "SUREFOOT_AGENT_NAMES",
  /** Of the HTTP API, as people reach it: what links begin with. */
  publicUrl: "SUREFOOT_PUBLIC_URL",
  /** The key ring of review links. One of the two: a secret's ARN on AWS, a file locally. */
  linkKeysSecret: "SUREFOOT_LINK_KEYS_SECRET",
  linkKeysFile: "SUREFOOT_LINK_KEYS_FILE",
  /** Who is sent links of their own: JSON `{ [name]: roles, separated by commas }`. Nobody where it is absent. */
  approvers: "SUREFOOT_APPROVERS",
  /** How people are told about approvals; each where it is set. */
  noticeTopicArn: "SUREFOOT_NOTICE_TOPIC_ARN",
  noticeBus: "SUREFOOT_NOTICE_BUS",
  noticesFile: "SUREFOOT_NOTICES_FILE",
  /** A chat's webhook: its address, or the ARN of the secret that holds it; and the approver in whose name its readers decide. */
  webhookUrl: "SUREFOOT_WEBHOOK_URL",
  webhookSecret: "SUREFOOT_WEBHOOK_SECRET",
  webhookApprover: "SUREFOOT_WEBHOOK_APPROVER",
  /** Name of the agent whose nodes a step function runs, where the bundle has several. */
  agent: "SUREFOOT_AGENT",
  modelProvider: "SUREFOOT_MODEL_PROVIDER",
  modelBaseUrl: "SUREFOOT_MODEL_BASE_URL",
  modelApiKey: "SUREFOOT_MODEL_API_KEY",
  /** JSON `{ [model name in the agent]: provider's model id }`, or one id for all. */
  models: "SUREFOOT_MODELS",
} as const;

export type Environment = Readonly<Record<string, string | undefined>>;

/** A setting that is missing or wrong stops the function at its start, naming it. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

export function readTables(env: Environment): { readonly runsTable: string; readonly ledgerTable: string } {
  return {
    runsTable: required(env, envNames.runsTable),
    ledgerTable: required(env, envNames.ledgerTable),
  };
}

export function readStateMachines(env: Environment): Readonly<Record<string, string>> {
  return parseJson(env, envNames.stateMachines, z.record(z.string(), z.string()));
}

export function readContracts(env: Environment): Readonly<Record<string, string>> {
  if (given(env, envNames.contracts) === undefined) return {};
  return parseJson(env, envNames.contracts, z.record(z.string(), z.string()));
}

export const readAgentNames = (env: Environment): readonly string[] => required(env, envNames.agentNames).split(",");

export function readReceivesMax(env: Environment): number {
  const receives = Number(required(env, envNames.receivesMax));
  if (Number.isInteger(receives) && receives > 0) return receives;
  throw new SettingsError(
    `${envNames.receivesMax}: expected a whole number from 1, found "${env[envNames.receivesMax] ?? ""}"`,
  );
}

/** Where the key ring of review links is kept. */
export type KeyRingPlace = { readonly secret: string } | { readonly file: string };

export function readKeyRingPlace(env: Environment): KeyRingPlace {
  const [secret, file] = [given(env, envNames.linkKeysSecret), given(env, envNames.linkKeysFile)];
  if (secret !== undefined) return { secret };
  if (file !== undefined) return { file };
  throw new SettingsError(`set ${envNames.linkKeysSecret} or ${envNames.linkKeysFile}: links to approvals are signed`);
}

/** Names and their roles. */
export function readApprovers(env: Environment): ReadonlyMap<string, readonly string[]> {
  if (given(env, envNames.approvers) === undefined) return new Map();
  const stored = parseJson(env, envNames.approvers, z.record(z.string().trim().min(1), z.string()));
  const rolesOf = (text: string) =>
    text
      .split(",")
      .map((role) => role.trim())
      .filter((role) => role !== "");
  return new Map(Object.entries(stored).map(([name, roles]) => [name.trim(), rolesOf(roles)]));
}

export interface NoticeSettings {
  readonly publicUrl: string;
  readonly topicArn: string | undefined;
  readonly bus: string | undefined;
  readonly file: string | undefined;
  readonly webhook: { readonly url: string } | { readonly secret: string } | undefined;
  readonly webhookApprover: string | undefined;
}

export function readNoticeSettings(env: Environment): NoticeSettings {
  const [url, secret] = [given(env, envNames.webhookUrl), given(env, envNames.webhookSecret)];
  return {
    publicUrl: required(env, envNames.publicUrl),
    topicArn: given(env, envNames.noticeTopicArn),
    bus: given(env, envNames.noticeBus),
    file: given(env, envNames.noticesFile),
    webhook: secret !== undefined ? { secret } : url !== undefined ? { url } : undefined,
    webhookApprover: given(env, envNames.webhookApprover),
  };
}

export const modelProviders = ["bedrock", "anthropic", "openai-compatible"] as const;

export interface ModelSettings {
  readonly provider: (typeof modelProviders)[number];
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
  readonly modelIdOf: (name: string) => string;
}

/** What Bedrock runs where nothing else is said. An inference profile id, so that any region of the profile may answer. */
const bedrockModelDefault = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

export function readModelSettings(env: Environment): ModelSettings {
  const provider = readProvider(env);
  const text = given(env, envNames.models);
  const byName = text?.startsWith("{") ? parseJson(env, envNames.models, z.record(z.string(), z.string())) : undefined;
  const forAll = byName ? byName["default"] : (text ?? (provider === "bedrock" ? bedrockModelDefault : undefined));
  return {
    provider,
    baseUrl: readBaseUrl(env, provider),
    apiKey: given(env, envNames.modelApiKey),
    modelIdOf: (name) => {
      const id = byName?.[name] ?? forAll;
      if (id !== undefined) return id;
      throw new SettingsError(
        `${envNames.models} names no model for "${name}": set it to one model id, or to JSON like {"default": "<id>", "${name}": "<id>"}`,
      );
    },
  };
}

function readProvider(env: Environment): ModelSettings["provider"] {
  const provider = z.enum(modelProviders).safeParse(given(env, envNames.modelProvider) ?? "bedrock");
  if (provider.success) return provider.data;
  throw new SettingsError(
    `${envNames.modelProvider}: expected one of ${modelProviders.join(", ")}, found "${env[envNames.modelProvider] ?? ""}"`,
  );
}

function readBaseUrl(env: Environment, provider: ModelSettings["provider"]): string | undefined {
  const baseUrl = given(env, envNames.modelBaseUrl);
  if (baseUrl === undefined) {
    if (provider !== "openai-compatible") return undefined;
    throw new SettingsError(
      `${envNames.modelBaseUrl} is missing: an OpenAI-compatible endpoint has no default address; set it, e.g. to http://localhost:11434/v1`,
    );
  }
  if (/^https?:\/\//u.test(baseUrl) && URL.canParse(baseUrl)) return baseUrl;
  throw new SettingsError(`${envNames.modelBaseUrl}: expected an http or https address, found "${baseUrl}"`);
}

/** Templates and shells set empty texts where nothing was said. */
function given(env: Environment, name: string): string | undefined {
  return env[name] === "" ? undefined : env[name];
}

function required(env: Environment, name: string): string {
  const value = given(env, name);
  if (value === undefined) throw new SettingsError(`${name} is not set`);
  return value;
}

function parseJson<T>(env: Environment, name: string, schema: z.ZodType<T>): T {
  const text = required(env, name);
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new SettingsError(`${name} does not hold the JSON object it should`);
  }
}
