import { Fault } from "../../../shared/index.ts";

/** What the refund agent needs of its surroundings. A real Stripe account needs the key only; locally all three are set. */
export interface RefundSettings {
  readonly stripeKey: string;
  /** Other than Stripe's own address, e.g. `http://127.0.0.1:4242`. */
  readonly stripeBaseUrl: string | undefined;
  readonly smtpUrl: string;
  readonly mailFrom: string;
}

export const refundEnvNames = {
  stripeKey: "STRIPE_API_KEY",
  stripeBaseUrl: "STRIPE_API_BASE",
  smtpUrl: "SMTP_URL",
  mailFrom: "MAIL_FROM",
} as const;

/**
 * Read when a tool is called, not when the module loads: CDK and `contract check` load the agent without any of it.
 * @throws Fault `setting_wrong`, retryable: nothing was sent, and once it is mended the run may go on.
 */
export function refundSettings(): RefundSettings {
  // eslint-disable-next-line no-restricted-syntax -- the agent's own settings enter here
  const env = process.env;
  const stripeBaseUrl = env[refundEnvNames.stripeBaseUrl];
  return {
    stripeKey: required(env, refundEnvNames.stripeKey),
    stripeBaseUrl: stripeBaseUrl ? address(refundEnvNames.stripeBaseUrl, stripeBaseUrl, ["http", "https"]) : undefined,
    smtpUrl: address(refundEnvNames.smtpUrl, required(env, refundEnvNames.smtpUrl), ["smtp", "smtps"]),
    mailFrom: env[refundEnvNames.mailFrom] || "refunds@example.com",
  };
}

function required(env: Readonly<Record<string, string | undefined>>, name: string): string {
  const value = env[name];
  if (value) return value;
  throw wrong(`${name} is not set: the refund agent needs it`);
}

/** The text itself stays out of the message: it may hold a password. */
function address(name: string, text: string, schemes: readonly string[]): string {
  const fits = schemes.some((scheme) => text.startsWith(`${scheme}://`)) && URL.canParse(text);
  if (fits) return text;
  throw wrong(`${name}: expected an address that starts with ${schemes.join(":// or ")}://`);
}

const wrong = (message: string): Fault => new Fault("setting_wrong", "retryable", `${message}. Nothing was sent`);
