import type { Actor } from "./actor.ts";
import type { LedgerDrill } from "./drill-settings.ts";
import type { memoryLedgerStore } from "./memory-ledger-store.ts";
import type { OutsideWorld } from "./outside-world.ts";
import type { StageTime } from "./stage-time.ts";

/** An actor, how it enters, and what is left of its time. */
export interface Part {
  readonly actor: Actor;
  readonly enter: () => Promise<string>;
  left: number;
  killedAtMs: number;
  /** The other side's yes was heard in this life, and nothing went wrong since. */
  heard: boolean;
}

/** What everybody of one schedule shares. */
export interface Stage {
  readonly drill: LedgerDrill;
  readonly world: OutsideWorld;
  readonly store: ReturnType<typeof memoryLedgerStore>;
  readonly time: StageTime;
  readonly parts: readonly Part[];
  /** What executors were answered. */
  readonly answers: string[];
  readonly problems: string[];
  /** Ends the actor's life where it stands. */
  crash(actor: Actor, why: string): never;
}
