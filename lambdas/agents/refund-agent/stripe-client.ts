import Stripe from "stripe";
import { refundSettings } from "./settings.ts";

/**
 * The official client for one call, with every retry off: its own count is zero, and it goes through `fetch`, since the client repeats a
 * reset connection of its Node agent once even then. The call's signal reaches the request, so that nothing is sent past the deadline.
 */
export function stripeClient(signal: AbortSignal): Stripe {
  const { stripeKey, stripeBaseUrl } = refundSettings();
  return new Stripe(stripeKey, {
    ...(stripeBaseUrl !== undefined && addressOf(stripeBaseUrl)),
    maxNetworkRetries: 0,
    telemetry: false,
    httpClient: Stripe.createFetchHttpClient((...[input, init]: Parameters<typeof fetch>) =>
      fetch(input, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, signal]) : signal }),
    ),
  });
}

function addressOf(baseUrl: string) {
  const url = new URL(baseUrl);
  const protocol: "http" | "https" = url.protocol === "http:" ? "http" : "https";
  return { host: url.hostname, port: url.port === "" ? (protocol === "http" ? "80" : "443") : url.port, protocol };
}
