import Stripe from "stripe";

/** The official client, pointed at a local server. It retries a reset connection once whatever `maxNetworkRetries` says. */
export function stripeClient(url: string, { apiKey = "sk_test_local" } = {}): Stripe {
  return new Stripe(apiKey, {
    host: "127.0.0.1",
    port: new URL(url).port,
    protocol: "http",
    maxNetworkRetries: 0,
    telemetry: false,
  });
}
