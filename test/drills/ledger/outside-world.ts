import type { Capability } from "../../../shared/ledger/ledger-entry.ts";
import type { LookupAnswer } from "../../../shared/agent/tool.ts";

export interface Order {
  readonly order: string;
  readonly amountCents: number;
}
export interface Receipt {
  readonly ref: string;
  readonly amountCents: number;
}

interface Effect {
  readonly key: string;
  readonly receipt: Receipt;
  readonly atMs: number;
}

/** A request that was sent and has not arrived yet. */
export interface InFlight {
  readonly key: string;
  readonly request: Order;
  /** It has arrived by then, or is lost: how long the network may hold it. */
  readonly lostAtMs: number;
}

/** What really happened. Dedupes by key for `windowMs` where it has keys; where it can only be asked, every arrival is an effect. */
export class OutsideWorld {
  readonly effects: Effect[] = [];
  readonly inFlight: InFlight[] = [];
  requests = 0;
  readonly #capability: Capability;
  readonly #windowMs: number;

  constructor(capability: Capability, windowMs: number) {
    this.#capability = capability;
    this.#windowMs = windowMs;
  }

  /** A request arrives. */
  arrive(key: string, request: Order, nowMs: number): Receipt {
    const known = this.effects.find((effect) => effect.key === key);
    if (known && this.#capability === "key" && nowMs < known.atMs + this.#windowMs) return known.receipt;
    const receipt = { ref: `ref_${this.effects.length + 1}`, amountCents: request.amountCents };
    this.effects.push({ key, receipt, atMs: nowMs });
    return receipt;
  }

  lookup(key: string): LookupAnswer<Receipt> {
    const known = this.effects.find((effect) => effect.key === key);
    return known ? { found: known.receipt } : "not_found";
  }

  /** Everything that its future behaviour depends on. */
  state(): unknown {
    return [this.effects, this.inFlight, this.requests];
  }
}
