import { join } from "node:path";
import { envNames } from "../../lambdas/env.ts";
import { refundEnvNames } from "../../lambdas/agents/refund-agent/settings.ts";
import { type DownstreamProcess, startDownstream } from "./downstreams/downstream-process.ts";

/** The other side of the refund agent on this machine: three processes of their own, which count for themselves. */
export interface RefundWorld {
  readonly payments: DownstreamProcess;
  readonly mail: DownstreamProcess;
  readonly model: DownstreamProcess;
  /** What the agent's step function finds in its environment. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Starts the other side. `folder` keeps what it counted over a restart. */
export async function startRefundWorld(folder?: string): Promise<RefundWorld> {
  const data = (file: string) => (folder === undefined ? {} : { dataFile: join(folder, file) });
  const [payments, mail, model] = await Promise.all([
    startDownstream("payments", data("payments.jsonl")),
    startDownstream("mail", data("mail.jsonl")),
    startDownstream("model"),
  ]);
  const smtp = mail.smtp ?? { host: "127.0.0.1", port: 25 };
  return {
    payments,
    mail,
    model,
    environment: {
      [refundEnvNames.stripeKey]: "sk_test_local",
      [refundEnvNames.stripeBaseUrl]: payments.url,
      [refundEnvNames.smtpUrl]: `smtp://${smtp.host}:${smtp.port}`,
      [envNames.modelProvider]: "openai-compatible",
      [envNames.modelBaseUrl]: `${model.url}/v1`,
      [envNames.modelApiKey]: "local",
      [envNames.models]: "scripted",
    },
    async stop() {
      await Promise.all([payments.stop(), mail.stop(), model.stop()]);
    },
  };
}

/** Settings that belong together: whoever names the first means a service of their own, and none of the local ones may be mixed in. */
const ownServices: readonly (readonly string[])[] = [
  [refundEnvNames.stripeKey, refundEnvNames.stripeBaseUrl],
  [refundEnvNames.smtpUrl],
  [envNames.modelProvider, envNames.modelBaseUrl, envNames.modelApiKey, envNames.models],
];
const alwaysPassed = [refundEnvNames.mailFrom, "AWS_BEARER_TOKEN_BEDROCK", "ANTHROPIC_API_KEY"];

/** The agent's environment: the user's own model, Stripe account or mail server where the user's environment names one, else the local one. */
export function agentEnvironment(
  local: Readonly<Record<string, string>>,
  user: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const own = ownServices.filter(([first]) => first !== undefined && user[first] !== undefined).flat();
  const kept = Object.entries(local).filter(([name]) => !own.includes(name));
  const taken = [...own, ...alwaysPassed].flatMap((name) =>
    user[name] === undefined ? [] : [[name, user[name]] as const],
  );
  return Object.fromEntries([...kept, ...taken]);
}
