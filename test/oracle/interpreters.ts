import type { SFNClient } from "@aws-sdk/client-sfn";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { startLambdaEndpoint } from "../../infra/local/lambda/lambda-endpoint.ts";
import type { InvokeResult } from "../../infra/local/lambda/lambda-failure.ts";
import { startStepFunctionsEndpoint } from "../../infra/local/step-functions/step-functions-endpoint.ts";
import { StepFunctionsService } from "../../infra/local/step-functions/step-functions-service.ts";
import {
  createStateMachine,
  deployable,
  type Ended,
  executionArn,
  machineName,
  sfnClient,
  startExecution,
  untilEnded,
} from "./drive.ts";
import { pausesIn, shapeOf, type StatesOf } from "./history-shape.ts";
import { IdleTimers } from "./idle-timers.ts";
import type { Moto, MotoOptions } from "./moto.ts";
import { causeOf, dataOf } from "./normalisations.ts";
import { type Script, scriptedInvoke, type ScriptedRun } from "./scripted-functions.ts";

/** What is compared. */
export interface Outcome {
  readonly status: string | undefined;
  readonly output: string | undefined;
  readonly error: string | undefined;
  readonly cause: string | undefined;
  readonly history: readonly string[];
  /** The seconds that Retry waited: state → pauses, in order. */
  readonly pauses: Readonly<Record<string, readonly number[]>>;
}

export interface Case {
  readonly definition: StatesOf;
  readonly input?: unknown;
  readonly script?: Script;
}

export interface Interpreters {
  /** Runs a case on both. */
  run(one: Case): Promise<{ readonly ours: Outcome; readonly moto: Outcome }>;
  /** Runs a case on both, expects the same of both, and returns it. */
  agree(one: Case): Promise<Outcome>;
}

/** moto's Wait states pass so many times as fast: only their order counts. */
const waitSpeed = 20;
/** A suite shares two cores with others. */
const testTimeoutMs = 120_000;

/** Our interpreter and moto's for the tests of a suite. */
export function useInterpreters(start: (options: MotoOptions) => Promise<Moto>): () => Interpreters {
  vi.setConfig({ testTimeout: testTimeoutMs, hookTimeout: testTimeoutMs });
  let both: (Interpreters & { stop(): Promise<void> }) | undefined;
  beforeAll(async () => {
    both = await startInterpreters(start);
  });
  afterAll(() => both?.stop());
  return () => {
    if (both === undefined) throw new Error("expected to be called in a test: the interpreters start before all");
    return both;
  };
}

async function startInterpreters(
  start: (options: MotoOptions) => Promise<Moto>,
): Promise<Interpreters & { stop(): Promise<void> }> {
  const sides = [await startOurs(), await startTheirs(start)] as const;
  let runs = 0;
  const run: Interpreters["run"] = async (one) => {
    const name = `run-${(runs += 1)}`;
    const [ours, moto] = await Promise.all([sides[0].run(name, one), sides[1].run(name, one)]);
    return { ours, moto };
  };
  return {
    run,
    async agree(one) {
      const { ours, moto } = await run(one);
      expect(ours, "our interpreter's outcome (received) against moto's (expected)").toEqual(moto);
      return ours;
    },
    async stop() {
      for (const side of sides) await side.stop();
    },
  };
}

interface Side {
  run(execution: string, one: Case): Promise<Outcome>;
  stop(): Promise<void>;
}

async function startOurs(): Promise<Side> {
  const timers = new IdleTimers();
  const functions = new FunctionsByExecution();
  const service = new StepFunctionsService({ invokeLambda: functions.invoke, timers, random: () => 0.5 });
  const endpoint = await startStepFunctionsEndpoint(service);
  const sfn = sfnClient(endpoint.url);
  const drive = driver(sfn, functions, () => ({ during: (work) => timers.during(work), runOut: () => {} }));
  return {
    run: async (execution, one) => {
      const ended = await drive(execution, one);
      return outcomeOf(ended, one, pausesIn(ended.history));
    },
    stop: () => endpoint.close(),
  };
}

async function startTheirs(start: (options: MotoOptions) => Promise<Moto>): Promise<Side> {
  const functions = new FunctionsByExecution();
  const lambda = await startLambdaEndpoint({ invoke: functions.invoke });
  const moto = await start({ lambdaPort: lambda.port, directed: waitSpeed });
  const drive = driver(sfnClient(moto.url), functions, (execution) => ({
    during: (work) => work,
    runOut: (state) => moto.runOut(execution, state),
  }));
  return {
    run: async (execution, one) => outcomeOf(await drive(execution, one), one, moto.pausesOf(execution)),
    async stop() {
      await moto.stop();
      await lambda.stop();
    },
  };
}

/** Lambda for one interpreter. Every definition here passes its execution's name on, which tells whose script plays. */
class FunctionsByExecution {
  readonly #byExecution = new Map<string, (payload: unknown) => Promise<InvokeResult>>();

  readonly invoke = async (_name: string, payload: unknown): Promise<InvokeResult> => {
    const { execution } = payload as { readonly execution: string };
    const play = this.#byExecution.get(execution);
    if (play === undefined) throw new Error(`no script was registered for the execution ${execution}`);
    return play(payload);
  };

  register(execution: string, run: ScriptedRun): void {
    this.#byExecution.set(execution, scriptedInvoke(run));
  }
}

function driver(
  sfn: SFNClient,
  functions: FunctionsByExecution,
  timeOf: (execution: string) => Pick<ScriptedRun, "during" | "runOut">,
): (execution: string, one: Case) => Promise<Ended> {
  const machines = new Map<string, Promise<string>>();
  return async (execution, { definition, input = {}, script = {} }) => {
    const text = deployable(definition);
    const machine = machineName(text);
    const arn = executionArn(machine, execution);
    functions.register(execution, { sfn, executionArn: arn, script, ...timeOf(execution) });
    const created = machines.get(machine) ?? createStateMachine(sfn, machine, text);
    machines.set(machine, created);
    await startExecution(sfn, await created, execution, input);
    return untilEnded(sfn, arn);
  };
}

function outcomeOf({ end, history }: Ended, { definition }: Case, pauses: Outcome["pauses"]): Outcome {
  return {
    status: end.status,
    output: dataOf(end.output),
    error: end.error,
    cause: causeOf(end.cause),
    history: shapeOf(history, definition),
    pauses: Object.fromEntries(Object.entries(pauses).map(([state, seconds]) => [state, seconds.map(wholeMs)])),
  };
}

const wholeMs = (seconds: number): number => Math.round(seconds * 1_000) / 1_000;
