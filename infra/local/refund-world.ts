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

/** What the user's own environment says instead: a real model, a real Stripe test account, a real mail server. */
export function fromUserEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const names = [
    ...Object.values(refundEnvNames),
    ...[envNames.modelProvider, envNames.modelBaseUrl, envNames.modelApiKey, envNames.models],
    ...["AWS_BEARER_TOKEN_BEDROCK", "ANTHROPIC_API_KEY"],
  ];
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
