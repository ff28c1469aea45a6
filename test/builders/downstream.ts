import type { LookupAnswer } from "../../shared/agent/tool.ts";
import type { Clock } from "../../shared/ports/clock.ts";

export interface OrderRequest {
  readonly order: string;
  readonly amountCents: number;
}

export interface Receipt {
  readonly ref: string;
  readonly amountCents: number;
}

/** How the other side, or the way to it, behaves at one call. */
export type Behaviour =
  | { readonly kind: "ok" }
  /** It happened, and the answer is lost. */
  | { readonly kind: "drop_response" }
  /** Never reached: connection refused. */
  | { readonly kind: "refuse" }
  /** Answers with a status and does nothing. */
  | { readonly kind: "status"; readonly status: number; readonly retryAfterSeconds?: number }
  /** The tool's own code breaks: before it sent, or after. */
  | { readonly kind: "throw"; readonly sent: boolean }
  /** Answers nothing and ignores the abort. */
  | { readonly kind: "hang" }
  /** Answers nothing and ends on the abort. */
  | { readonly kind: "slow" }
  /** The answer is lost, and it happens only when `landLate` is called. */
  | { readonly kind: "late_commit" }
  /** Waits for `run`, then answers. */
  | { readonly kind: "held"; readonly run: () => Promise<void> }
  /** It happened, and the answer is this. */
  | { readonly kind: "answer"; readonly answer: unknown };

export class HttpError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: number, retryAfterSeconds: number | undefined) {
    super(`the other side answered ${status}`);
    this.status = status;
    this.headers = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  }
}

const socketError = (code: string) => Object.assign(new Error(`connect ${code}`), { code });

/**
 * The outside world: what happened is counted here and nowhere else. With a `keyWindowMs` it dedupes by key for that long, as a payment
 * provider does; without one every request that arrives is another effect.
 */
export class Downstream {
  readonly #clock: Clock;
  readonly #keyWindowMs: number | undefined;
  readonly #keys = new Map<string, { readonly receipt: Receipt; readonly atMs: number }>();
  readonly #late: (() => void)[] = [];
  readonly #script: Behaviour[] = [];
  /** Everything that happened outside, in order. */
  readonly effects: { readonly key: string; readonly receipt: Receipt }[] = [];
  /** Keys of the requests that were sent, whatever came of them. */
  readonly requests: string[] = [];
  lookups = 0;

  constructor(clock: Clock, keyWindowMs?: number) {
    this.#clock = clock;
    this.#keyWindowMs = keyWindowMs;
  }

  /** How the next calls go; after them all goes well. */
  next(...behaviours: readonly Behaviour[]): void {
    this.#script.push(...behaviours);
  }

  landLate(): void {
    for (const land of this.#late.splice(0)) land();
  }

  async call(request: OrderRequest, key: string, signal: AbortSignal): Promise<unknown> {
    const behaviour = this.#script.shift() ?? { kind: "ok" };
    if (behaviour.kind === "refuse") throw socketError("ECONNREFUSED");
    if (behaviour.kind === "throw" && !behaviour.sent) throw new TypeError("cannot read properties of undefined");
    this.requests.push(key);
    switch (behaviour.kind) {
      case "ok":
        return this.#commit(request, key);
      case "drop_response":
        this.#commit(request, key);
        throw socketError("ECONNRESET");
      case "status":
        throw new HttpError(behaviour.status, behaviour.retryAfterSeconds);
      case "throw":
        this.#commit(request, key);
        throw new TypeError("cannot read properties of undefined");
      case "hang":
        return new Promise(() => undefined);
      case "slow":
        return new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        });
      case "late_commit":
        this.#late.push(() => this.#commit(request, key));
        throw socketError("ECONNRESET");
      case "held":
        await behaviour.run();
        return this.#commit(request, key);
      case "answer":
        this.#commit(request, key);
        return behaviour.answer;
      default:
        return behaviour satisfies never;
    }
  }

  async lookup(key: string): Promise<LookupAnswer<Receipt>> {
    this.lookups++;
    const found = this.effects.find((effect) => effect.key === key);
    return found ? { found: found.receipt } : "not_found";
  }

  #commit(request: OrderRequest, key: string): Receipt {
    const known = this.#keys.get(key);
    const nowMs = this.#clock.nowMs();
    if (this.#keyWindowMs !== undefined && known && nowMs < known.atMs + this.#keyWindowMs) return known.receipt;
    const receipt = { ref: `ref_${this.effects.length + 1}`, amountCents: request.amountCents };
    this.#keys.set(key, { receipt, atMs: nowMs });
    this.effects.push({ key, receipt });
    return receipt;
  }
}
