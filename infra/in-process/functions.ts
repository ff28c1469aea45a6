import type { InvokeCommand } from "@aws-sdk/client-lambda";
import { type InvokeCommandOutput, type LambdaClient } from "@aws-sdk/client-lambda";
import type { InvokeResult } from "../local/lambda/lambda-failure.ts";
import { parseFunctionName } from "../local/lambda/function-name.ts";
import type { Actor } from "./actor.ts";
import { Invocation } from "./invocation.ts";
import type { Scheduler } from "./scheduler.ts";
import type { VirtualClock } from "./virtual-clock.ts";

export interface FunctionContext {
  getRemainingTimeInMillis(): number;
  readonly invokedFunctionArn: string;
}

export type Handler = (event: unknown, context: FunctionContext) => Promise<unknown>;

export interface FunctionDefinition {
  readonly arn: string;
  readonly timeoutMs: number;
  /** Wires a fresh process for one invocation. */
  readonly start: (invocation: Invocation) => Handler;
}

/** The Lambda functions of one world. Each invocation is a process of its own. */
export class Functions {
  readonly #definitions = new Map<string, FunctionDefinition>();
  readonly #counts = new Map<string, number>();
  readonly #open = new Set<Invocation>();
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  /** Those that are not over. */
  get open(): readonly Invocation[] {
    return [...this.#open];
  }

  register(name: string, definition: FunctionDefinition): void {
    this.#definitions.set(name, definition);
  }

  /** Starts an invocation. @throws RangeError for a function that was never registered. */
  start(name: string, event: unknown): Invocation {
    const definition = this.#definitions.get(name);
    if (!definition) {
      throw new RangeError(
        `there is no function "${name}": expected one of ${[...this.#definitions.keys()].join(", ")}`,
      );
    }
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    const { arn: functionArn, timeoutMs } = definition;
    const looks = name === "sweep" || (event as { readonly action?: unknown }).action === "reconcile";
    const settings = { name: `${name}#${count}`, functionName: name, functionArn, timeoutMs, looks };
    const invocation = new Invocation(settings, this.#clock);
    this.#open.add(invocation);
    void invocation.ended.then(() => this.#open.delete(invocation));
    void invocation.run(async () =>
      definition.start(invocation)(throughJson(event), {
        getRemainingTimeInMillis: () => Math.max(0, invocation.deadlineMs - this.#clock.now()),
        invokedFunctionArn: functionArn,
      }),
    );
    return invocation;
  }

  /** A call of a function by somebody else in this world, behind the gate. Never rejects. */
  invoke(actor: Actor, arn: string, event: unknown, scheduler: Scheduler): Promise<InvokeResult> {
    const { name } = parseFunctionName(arn);
    return scheduler
      .pass<InvokeResult>(actor, {
        port: "lambda",
        verb: "Invoke",
        ids: { function: name, ...idsOf(event) },
        land: (turn) => {
          const { result } = this.start(name, event);
          turn.handOver();
          return result;
        },
        outcome: (result) => (result.ok ? "ok" : result.error),
      })
      .catch(refusedAs);
  }

  /** Lambda as one process sees it. */
  client(actor: Actor, scheduler: Scheduler): LambdaClient {
    const send = async (
      command: InvokeCommand,
      options: { readonly abortSignal?: AbortSignal } = {},
    ): Promise<Partial<InvokeCommandOutput>> => {
      const { FunctionName = "", Payload } = command.input;
      const event: unknown = JSON.parse(Buffer.from(Payload as Uint8Array).toString("utf8"));
      const answer = this.invoke(actor, FunctionName, event, scheduler);
      const result = await orAborted(answer, options.abortSignal);
      if (result.ok) return { StatusCode: 200, Payload: bytesOf(JSON.stringify(result.payload)) };
      if (result.error.startsWith("Lambda.")) {
        throw Object.assign(new Error(result.cause), { name: result.error.replace("Lambda.", "") });
      }
      return { StatusCode: 200, FunctionError: "Unhandled", Payload: bytesOf(result.cause) };
    };
    // Only `send` is used of it.
    return { send } as unknown as LambdaClient;
  }
}

const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

/** What an event is about. A task token is a secret, even here. */
function idsOf(event: unknown): Record<string, string> {
  const shown = ["action", "operation_id", "line", "position", "execution", "error", "path"];
  return Object.fromEntries(
    Object.entries((event ?? {}) as Record<string, unknown>).flatMap(([name, value]) =>
      shown.includes(name) && typeof value === "string" ? [[name, value]] : [],
    ),
  );
}

/** The service's refusal, as a state machine names it. */
const refusedAs = (error: unknown): InvokeResult => {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const known = ["ServiceException", "TooManyRequestsException"].includes(name);
  return { ok: false, error: known ? `Lambda.${name}` : "Lambda.Unknown", cause: message };
};

/** The SDK's word on a request that its caller gave up. */
function orAborted<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return answer;
  return new Promise<T>((resolve, reject) => {
    const giveUp = () => reject(Object.assign(new Error("Request aborted"), { name: "AbortError" }));
    signal.addEventListener("abort", giveUp, { once: true });
    answer.then(resolve, reject);
  });
}

// The SDK's payloads carry a method that turns them into text; the adapters go through Buffer instead.
const bytesOf = (text: string) => Buffer.from(text) as unknown as NonNullable<InvokeCommandOutput["Payload"]>;
