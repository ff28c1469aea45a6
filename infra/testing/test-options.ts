import type { DurationMs } from "../../shared/agent/duration.ts";
import type { CompileSettings } from "../../shared/compile/compile-settings.ts";
import type { ToolDouble } from "../in-process/double.ts";
import type { Effect } from "../in-process/journal.ts";
import type { ModelScript } from "./scripted-models.ts";

/** What a function that takes a tool's place can see of the other doubles: a read tool often shows what a write tool did. */
export interface Seen {
  readonly effects: (tool?: string, businessKey?: string) => readonly Effect[];
}

/** In the place of a tool's own code: a double, or a function that answers. */
export type ToolScript = ToolDouble | ((request: never, seen: Seen) => unknown);

export interface TestAgentOptions {
  /** An answer for each model node, by its name. */
  readonly models?: Readonly<Record<string, ModelScript>>;
  /** By tool name. @default the tool's own code runs */
  readonly tools?: Readonly<Record<string, ToolScript>>;
  /** In the place of a write's own precondition, by node name. @default the agent's own code runs */
  readonly preconditions?: Readonly<
    Record<string, (request: never, state: never) => Promise<true | string> | true | string>
  >;
  /** The order in which calls that wait at once are let through. Another seed is another run. @default 1 */
  readonly seed?: number;
  /** When the world begins, ISO 8601. @default 2026-09-02T12:00:00Z */
  readonly startAt?: string;
  readonly settings?: Partial<CompileSettings>;
  /** Between two sweeps; 0 for none. @default five minutes, as on AWS */
  readonly sweepEvery?: DurationMs;
}
