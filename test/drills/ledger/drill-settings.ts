import type { Capability } from "../../../shared/ledger/ledger-entry.ts";

/** Who meets over one operation, and what may go wrong meanwhile. */
export interface LedgerDrill {
  readonly capability: Capability;
  /** Gives a keyed tool a lookup beside its key. */
  readonly keyLookup?: boolean;
  /** What may go wrong in one schedule, all actors together: crashes, lost acknowledgements, dropped answers, late arrivals. */
  readonly faultsMax: number;
  /** How often each executor of the same operation may enter it. */
  readonly entries: readonly number[];
  readonly sweeps: number;
  /** The second executor asks for another amount under the same business key. */
  readonly otherRequest?: boolean;
  /**
   * A process may outlive its deadline where it waits for the ledger, as a frozen one that is thawed does; it costs a fault. Not between
   * its last look at the clock and the send: that gap is closed by the kill alone.
   */
  readonly zombies?: boolean;
  readonly schedulesMax?: number;
  readonly violationsMax?: number;
}

export const startMs = Date.UTC(2026, 8, 2, 12, 0, 0);
export const invocationMs = 30_000;
export const toolTimeoutMs = 10_000;
/** How long the network may hold a request that was sent. Shorter than the settle time, as the tool's author promises. */
export const networkMs = 20_000;
export const settleMs = 60_000;
/** Short, so that schedules pass its end. */
export const windowMs = 100_000;
