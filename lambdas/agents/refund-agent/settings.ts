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

/** Read when a tool is called, not when the module loads: CDK and `contract check` load the agent without any of it. */
export function refundSettings(): RefundSettings {
  // eslint-disable-next-line no-restricted-syntax, no-restricted-properties, no-restricted-globals -- the agent's own settings enter here
  const env = process.env;
  const required = (name: string): string => {
    const value = env[name];
    if (value === undefined || value === "") throw new Error(`${name} is not set: the refund agent needs it`);
    return value;
  };
  return {
    stripeKey: required(refundEnvNames.stripeKey),
    stripeBaseUrl: env[refundEnvNames.stripeBaseUrl],
    smtpUrl: required(refundEnvNames.smtpUrl),
    mailFrom: env[refundEnvNames.mailFrom] ?? "refunds@example.com",
  };
}
