import { z } from "zod";

/** "at least 24 hours": https://docs.stripe.com/api/idempotent_requests */
export const KEY_WINDOW_MS_DEFAULT = 24 * 60 * 60 * 1000;

/** The stored first result of one key. */
export const KeyResult = z.object({
  key: z.string(),
  fingerprint: z.string(),
  begun_at_ms: z.number(),
  request_id: z.string(),
  status: z.number(),
  body: z.unknown(),
});
export type KeyResult = z.infer<typeof KeyResult>;

export type KeyClaim =
  | { readonly kind: "first"; readonly begunAtMs: number }
  | { readonly kind: "replay"; readonly result: KeyResult }
  | { readonly kind: "in_flight" }
  | { readonly kind: "other_parameters" };

/** Stripe's v1 rules: the first result of an executed request is given back for its key, server errors included, until the
 *  window has passed since the key was first seen; then the key is a new request. */
export class IdempotencyKeys {
  readonly #windowMs: number;
  readonly #now: () => number;
  readonly #inFlight = new Map<string, { readonly fingerprint: string }>();
  readonly #results = new Map<string, KeyResult>();

  constructor(windowMs: number, now: () => number) {
    this.#windowMs = windowMs;
    this.#now = now;
  }

  /** `first` claims the key: the caller must `store` a result. */
  claim(key: string, fingerprint: string): KeyClaim {
    const stored = this.#results.get(key);
    const result = stored !== undefined && this.#now() - stored.begun_at_ms < this.#windowMs ? stored : undefined;
    const known = result ?? this.#inFlight.get(key);
    if (known !== undefined && known.fingerprint !== fingerprint) return { kind: "other_parameters" };
    if (result !== undefined) return { kind: "replay", result };
    if (known !== undefined) return { kind: "in_flight" };
    this.#inFlight.set(key, { fingerprint });
    return { kind: "first", begunAtMs: this.#now() };
  }

  store(result: KeyResult): void {
    this.#inFlight.delete(result.key);
    this.#results.set(result.key, result);
  }
}
