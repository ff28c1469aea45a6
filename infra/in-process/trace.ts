import type { Actor } from "./actor.ts";
import type { AdmittedCall, PortCall } from "./port-call.ts";

/** One line of a trace. */
export interface TraceEntry extends AdmittedCall {
  /** Milliseconds since the world began. */
  readonly atMs: number;
  /** What was done to it. */
  readonly fault?: string;
  /** `ok`, `refused` for a condition that did not hold, or the error's name. Undefined while, or because, nobody heard an answer. */
  readonly outcome?: string;
}

/** Every port call of a world, in the order in which they were let through. The same seed gives the same text. */
export class Trace {
  readonly #entries: TraceEntry[] = [];

  get entries(): readonly TraceEntry[] {
    return this.#entries;
  }

  open({ port, verb, ids }: PortCall, actor: Actor, atMs: number): TraceEntry {
    const hasProcess = actor.process !== undefined;
    const entry = { n: this.#entries.length + 1, actor: actor.name, hasProcess, port, verb, ids, atMs };
    this.#entries.push(entry);
    return entry;
  }

  note({ n }: AdmittedCall, noted: Pick<TraceEntry, "fault" | "outcome">): void {
    const entry = this.#entries[n - 1];
    if (entry) this.#entries[n - 1] = { ...entry, ...noted };
  }

  text(): string {
    return this.#entries.map(lineOf).join("\n");
  }
}

function lineOf({ n, atMs, actor, port, verb, ids, fault, outcome }: TraceEntry): string {
  const about = Object.entries(ids).map(([name, id]) => `${name}=${id}`);
  const hit = fault === undefined ? "" : ` [${fault}]`;
  return `${String(n).padStart(4)} ${secondsOf(atMs)} ${actor} ${port}.${verb} ${about.join(" ")} -> ${outcome ?? "no answer"}${hit}`;
}

const secondsOf = (ms: number): string => `+${(ms / 1_000).toFixed(3)}s`;

/** How a call's end reads in a trace. */
export const outcomeOf = (error: unknown): string => {
  const name = error instanceof Error ? error.name : typeof error;
  if (name === "ConditionalCheckFailedException") return "refused";
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
  return code ?? name;
};
