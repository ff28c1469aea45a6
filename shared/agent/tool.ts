import type { z } from "zod";
import type { FailureClass } from "../faults/failure-class.ts";
import type { Delivery, Risk } from "../ledger/ledger-entry.ts";
import type { DurationMs } from "./duration.ts";

/** What a tool gets beside its request. */
export interface CallContext {
  /** Aborts before the invocation's deadline. Pass it on: a call that ignores it is recorded as unknown and the process ends. */
  readonly signal: AbortSignal;
}

export interface WriteCallContext extends CallContext {
  /** The operation id. Send it as the idempotency key; the model never sees it. */
  readonly idempotencyKey: string;
}

/** `cannot_tell`: the other side answered, but not with a yes or a no. */
export type LookupAnswer<Result> = { readonly found: Result } | "not_found" | "cannot_tell";

/** Asks the other side whether an operation happened. */
export type Lookup<Request, Result> = (
  request: Request,
  operationId: string,
  context: CallContext,
) => Promise<LookupAnswer<Result>>;

/** What the other side offers to find out whether something happened. Erased to `unknown` types inside the runtime. */
export type Downstream<Request = never, Result = unknown> =
  | {
      readonly by: "key";
      /** How long the other side remembers a key, counted from the first send. State it; do not guess. */
      readonly windowMs: DurationMs;
      readonly lookup?: Lookup<Request, Result> | undefined;
      readonly settleMs: DurationMs;
    }
  | { readonly by: "query"; readonly settleMs: DurationMs; readonly lookup: Lookup<Request, Result> }
  | { readonly by: "none"; readonly delivery: Delivery };

/** The other side dedupes by our key for `window`. `lookup` is asked once the window has passed; give its request a type. */
export const byKey = <Request = unknown, Result = never>(options: {
  readonly window: DurationMs;
  readonly lookup?: Lookup<Request, Result>;
  readonly settle?: DurationMs;
}): Downstream<Request, Result> => ({
  by: "key",
  windowMs: options.window,
  lookup: options.lookup,
  settleMs: options.settle ?? 0,
});

/** The other side can be asked, by a `lookup` whose request has a type; *not found* counts only after `settle`. Without a kill at the deadline a query alone can still double. */
export const byQuery = <Request, Result>(options: {
  readonly settle: DurationMs;
  readonly lookup: Lookup<Request, Result>;
}): Downstream<Request, Result> => ({ by: "query", settleMs: options.settle, lookup: options.lookup });

/**
 * Neither key nor query: an attempt without an answer is UNKNOWN at once, and a person decides. Automation can be lowered:
 * `queue` has one reliable worker deliver it, `human` has a person do it and record the reference. Default `direct`.
 */
export const none = (options: { readonly delivery?: Delivery } = {}): Downstream<unknown, never> => ({
  by: "none",
  delivery: options.delivery ?? "direct",
});

/** How a tool's operations reach the other side. */
export const deliveryOf = (downstream: Downstream<never>): Delivery =>
  downstream.by === "none" ? downstream.delivery : "direct";

/** Says what an error of this tool means, where it knows better than the default. `undefined` leaves it to the default. */
export type ClassifyError = (error: unknown) => FailureClass | undefined;

interface ToolBase<Request, Result> {
  readonly name: string;
  /** Raise it whenever the meaning of request or result changes. */
  readonly version: number;
  readonly input: z.ZodType<Request>;
  readonly output: z.ZodType<Result>;
  /** Longest a single call may take. Default 10 s. */
  readonly timeoutMs: DurationMs;
  /** Attempts in all, the first included. Default 3. */
  readonly attemptsMax: number;
  readonly classify: ClassifyError | undefined;
}

export interface ReadTool<Request = never, Result = unknown> extends ToolBase<Request, Result> {
  readonly effect: "read";
  readonly execute: (request: Request, context: CallContext) => Promise<Result>;
}

export interface WriteTool<Request = never, Result = unknown> extends ToolBase<Request, Result> {
  readonly effect: "write";
  readonly risk: Risk;
  readonly downstream: Downstream<Request, Result>;
  /** Fields whose change is another request. They make the request hash and an approval's digest. */
  readonly semanticFields: readonly string[];
  /** The other side's name for the effect, e.g. a refund id. */
  readonly externalRef: ((result: Result) => string) | undefined;
  /** The answer, made from the other side's reference: what a person knows who looked there. */
  readonly resultOf: ((externalRef: string, request: Request) => Result) | undefined;
  /** `workflow`: a second run of the same workflow id cannot repeat the effect. Default `run`. */
  readonly scope: "run" | "workflow";
  readonly execute: (request: Request, context: WriteCallContext) => Promise<Result>;
}

interface ToolOptions<I extends z.ZodType, O extends z.ZodType> {
  readonly version: number;
  readonly input: I;
  readonly output: O;
  readonly timeout?: DurationMs;
  readonly attempts?: number;
  readonly classify?: ClassifyError;
}

const timeoutMsDefault = 10_000;
const attemptsMaxDefault = 3;

const base = <I extends z.ZodType, O extends z.ZodType>(
  name: string,
  options: ToolOptions<I, O>,
): ToolBase<z.output<I>, z.output<O>> => ({
  name,
  version: options.version,
  input: options.input as z.ZodType<z.output<I>>,
  output: options.output as z.ZodType<z.output<O>>,
  timeoutMs: options.timeout ?? timeoutMsDefault,
  attemptsMax: options.attempts ?? attemptsMaxDefault,
  classify: options.classify,
});

/** A tool that changes nothing outside. Its failures may always be tried again. */
export const readTool = <I extends z.ZodType, O extends z.ZodType>(
  name: string,
  options: ToolOptions<I, O> & {
    readonly execute: (request: z.output<I>, context: CallContext) => Promise<z.output<O>>;
  },
): ReadTool<z.output<I>, z.output<O>> => ({ ...base(name, options), effect: "read", execute: options.execute });

/** A tool that changes something outside. Everything the ledger needs to know about the other side is declared here. */
export const writeTool = <I extends z.ZodType<Readonly<Record<string, unknown>>>, O extends z.ZodType>(
  name: string,
  options: ToolOptions<I, O> & {
    readonly risk: Risk;
    readonly downstream: Downstream<z.output<I>, z.output<O>>;
    readonly semanticFields: readonly (keyof z.output<I> & string)[];
    readonly externalRef?: (result: z.output<O>) => string;
    readonly resultOf?: (externalRef: string, request: z.output<I>) => z.output<O>;
    readonly scope?: "run" | "workflow";
    readonly execute: (request: z.output<I>, context: WriteCallContext) => Promise<z.output<O>>;
  },
): WriteTool<z.output<I>, z.output<O>> => ({
  ...base(name, options),
  effect: "write",
  risk: options.risk,
  downstream: options.downstream,
  semanticFields: options.semanticFields,
  externalRef: options.externalRef,
  resultOf: options.resultOf,
  scope: options.scope ?? "run",
  execute: options.execute,
});
