import type { HistoryEvent, HistoryEventType } from "@aws-sdk/client-sfn";
import { StateFailure } from "./state-failure.ts";
import type { Timers } from "./timers.ts";

/** The service's hard limit for a Standard execution; the last place is kept for the event that ends it. */
export const HISTORY_EVENTS_MAX = 25_000;

export type EventDetails = Omit<HistoryEvent, "id" | "previousEventId" | "timestamp" | "type">;

/** What the API says about every text it shows in full, as it always does here. */
export const NOT_TRUNCATED = { truncated: false };

export class History {
  readonly #timers: Timers;
  readonly #events: HistoryEvent[] = [];

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  get events(): readonly HistoryEvent[] {
    return this.#events;
  }

  /** Returns the new event's id. @throws StateFailure once only the ending fits. */
  add(type: HistoryEventType, previousEventId: number, details: EventDetails = {}): number {
    if (this.#events.length >= HISTORY_EVENTS_MAX - 1) {
      throw new StateFailure(
        "States.Runtime",
        `The execution reached the maximum number of history events (${HISTORY_EVENTS_MAX}).`,
      );
    }
    return this.#push(type, previousEventId, details);
  }

  end(type: HistoryEventType, previousEventId: number, details: EventDetails): number {
    return this.#push(type, previousEventId, details);
  }

  #push(type: HistoryEventType, previousEventId: number, details: EventDetails): number {
    const id = this.#events.length + 1;
    this.#events.push({ timestamp: new Date(this.#timers.now()), type, id, previousEventId, ...details });
    return id;
  }
}
