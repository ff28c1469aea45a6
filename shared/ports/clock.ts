/** Time enters here and nowhere else, so that a drill can own it. */
export interface Clock {
  /** Wall clock, epoch milliseconds. */
  nowMs(): number;
  /** Runs `run` once after `ms`. @returns what cancels it. */
  after(ms: number, run: () => void): () => void;
}

/** ISO 8601 with milliseconds, UTC: sorts as text, and is what every stored `*_at` attribute holds. */
export const isoTime = (epochMs: number): string => new Date(epochMs).toISOString();
