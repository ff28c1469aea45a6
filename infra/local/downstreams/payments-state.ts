import { z } from "zod";
import { IdempotencyKeys, KeyResult } from "./idempotency-keys.ts";
import { openJournal, type Journal } from "./journal.ts";
import { Milestones } from "./milestones.ts";
import { Payment, PaymentsBook, Refund } from "./payments-book.ts";
import { REFUND_ROUTE } from "./payments-faults.ts";

/** What `GET effects` gives: what happened to money, and beside it what was asked. */
export const PaymentsEffects = z.object({
  refunds: z.number(),
  amount_cents: z.number(),
  by_payment: z.record(z.string(), z.object({ count: z.number(), amount_cents: z.number() })),
  /** How often `POST /v1/refunds` arrived, dropped and refused ones included. */
  requests: z.number(),
  requests_by_key: z.record(z.string(), z.number()),
  requests_by_route: z.record(z.string(), z.number()),
});
export type PaymentsEffects = z.infer<typeof PaymentsEffects>;

/** Everything that changes state, one line each. Money and the result stored for its key are one line: no crash leaves one
 *  without the other. */
const Entry = z.discriminatedUnion("type", [
  z.object({ type: z.literal("payment"), payment: Payment }),
  z.object({ type: z.literal("executed"), refund: Refund.optional(), result: KeyResult.optional() }),
  z.object({ type: z.literal("request"), route: z.string(), key: z.string().optional() }),
  z.object({ type: z.literal("clock"), offset_ms: z.number() }),
]);
type Entry = z.infer<typeof Entry>;

/** All that the payments server remembers: the fold of its journal. */
export class PaymentsState {
  readonly book = new PaymentsBook();
  readonly keys: IdempotencyKeys;
  readonly milestones = new Milestones(["commit", "request"]);
  readonly #requestsByKey: Record<string, number> = {};
  readonly #requestsByRoute: Record<string, number> = {};
  readonly #journal: Journal<Entry>;
  #clockOffsetMs = 0;

  constructor(dataFile: string | undefined, keyWindowMs: number) {
    this.keys = new IdempotencyKeys(keyWindowMs, () => this.nowMs());
    this.#journal = openJournal(dataFile, Entry, (entry) => this.#apply(entry));
  }

  nowMs(): number {
    return Date.now() + this.#clockOffsetMs;
  }

  /** On disk before it counts; only the count of requests is not worth a disk flush. */
  record(entry: Entry): void {
    this.#journal.append(entry, { durable: entry.type !== "request" });
    this.#apply(entry);
  }

  effects(): PaymentsEffects {
    return {
      ...this.book.effects(),
      requests: this.milestones.count("request"),
      requests_by_key: this.#requestsByKey,
      requests_by_route: this.#requestsByRoute,
    };
  }

  close(): void {
    this.#journal.close();
  }

  #apply(entry: Entry): void {
    switch (entry.type) {
      case "payment":
        return this.book.seed(entry.payment);
      case "executed":
        if (entry.result !== undefined) this.keys.store(entry.result);
        if (entry.refund === undefined) return;
        this.book.record(entry.refund);
        return this.milestones.reach("commit");
      case "request":
        countUp(this.#requestsByRoute, entry.route);
        if (entry.key !== undefined) countUp(this.#requestsByKey, entry.key);
        if (entry.route === REFUND_ROUTE) this.milestones.reach("request");
        return;
      case "clock":
        this.#clockOffsetMs = entry.offset_ms;
        return;
      default:
        return entry satisfies never;
    }
  }
}

function countUp(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
