import type { Agent } from "../../shared/agent/agent.ts";
import type { LedgerEntry } from "../../shared/ledger/ledger-entry.ts";
import type { WriteTool } from "../../shared/agent/tool.ts";
import type { RunHistory } from "../../shared/runlog/run-log.ts";
import { isOpen } from "../../shared/runlog/run-record.ts";
import type { Waiter } from "../../shared/waiter/waiter.ts";
import { toolsOf } from "../in-process/gated-agent.ts";
import type { Effect } from "../in-process/journal.ts";
import type { FaultRule } from "../in-process/injected-fault.ts";
import type { TraceEntry } from "../in-process/trace.ts";
import { testAgent } from "../testing/test-agent.ts";
import type { TestRun } from "../testing/test-run.ts";
import type { TestWorld } from "../testing/test-world.ts";
import type { CompleteScript } from "./complete-script.ts";
import { kindsThatFit } from "./plan-cases.ts";
import { faultOf, type Strike } from "./strike.ts";

/** How a world stood when nothing went on by itself any more. */
export interface Rest {
  readonly history: RunHistory;
  readonly operations: readonly LedgerEntry[];
  readonly effects: readonly Effect[];
}

/** What came of one case. Everything is looked at from outside: the journal of the other sides, the tables, the trace of port calls. */
export interface Played {
  readonly strikes: readonly Strike[];
  readonly seed: number;
  /** The first time that only an operator could help; the end where none had to. Undefined where the run could not be started. */
  readonly rest: Rest | undefined;
  readonly end: Rest | undefined;
  /** The latest output of each node at the end. */
  readonly state: Readonly<Record<string, unknown>>;
  readonly trace: readonly TraceEntry[];
  readonly traceText: string;
  readonly requests: TestWorld["requests"] extends (tool?: string) => infer R ? R : never;
  /** An operator did something: resolved, delivered by hand, resumed. */
  readonly helped: number;
}

/** Times a client repeats a start that came to nothing. */
const startsMax = 4;
/** Times an operator looks after a run. What is not well by then never will be. */
const helpMax = 8;
const workflowId = "drill";

/** Plays the script's run once, from its start to where nothing and nobody can bring it further, with the given strikes. */
export async function playCase(script: CompleteScript, seed: number, strikes: readonly Strike[]): Promise<Played> {
  const world = await testAgent(script.agent, { ...script.world, seed });
  const started: { run?: TestRun } = {};
  world.engine.inject(...strikes.map((strike) => ruleOf(script.agent, strike, world, started)));
  const run = await start(world, script.input);
  if (run) started.run = run;
  let rest: Rest | undefined;
  let helped = 0;
  for (let round = 0; run && round < helpMax; round++) {
    await world.engine.until(() => isDecidable(world, run));
    const now = await look(world, run);
    const waiter = now.history.waiters.findLast(({ status }) => status === "OPEN");
    if (!isOpen(now.history.run.status)) break;
    if (waiter?.kind === "approval" && now.history.run.status !== "PARKED") {
      // Answered, and nothing goes on: a reviewer who repeats the answer would wake the run, and should not have to.
      if (now.history.steps.some(({ position }) => position === waiter.position)) rest ??= now;
      await decide(script, run, waiter);
      continue;
    }
    rest ??= now;
    if (!(await help(script, world, run, now, waiter))) break;
    helped++;
  }
  const end = run && (await look(world, run));
  return {
    strikes,
    seed,
    rest: rest ?? end,
    end,
    state: run ? await run.state() : {},
    trace: world.engine.trace.entries,
    traceText: world.trace(),
    requests: world.requests(),
    helped,
  };
}

/** A reviewer answers at once; everybody else waits until nothing goes on by itself. */
async function isDecidable(world: TestWorld, { id }: TestRun): Promise<boolean> {
  const history = await world.engine.stored.history(id);
  if (!history || !isOpen(history.run.status)) return true;
  const waiter = history.waiters.findLast(({ status }) => status === "OPEN");
  const answered = history.steps.some(({ position }) => position === waiter?.position);
  return (
    history.run.status === "WAITING" && waiter?.kind === "approval" && waiter.task_token !== undefined && !answered
  );
}

function ruleOf(
  agent: Agent,
  { call: number, kind }: Strike,
  world: TestWorld,
  started: { readonly run?: TestRun },
): FaultRule {
  if (kind !== "rival" && kind !== "sweep") {
    // After another strike the call of that number may be one that this cannot happen to.
    return { at: (call) => call.n === number && kindsThatFit(agent, call).includes(kind), fault: faultOf(kind) };
  }
  // No fault of a call: when its turn comes somebody else sets to work, and the execution that is there does not know.
  let begun = false;
  const at: FaultRule["at"] = ({ n }) => {
    if (n >= number && !begun && started.run) {
      begun = true;
      const path = `/runs/${started.run.id}/resume`;
      if (kind === "sweep") void world.engine.begin("sweep", {});
      else void world.engine.begin("control", { method: "POST", path, body: { by: "a rival" } });
    }
    return false;
  };
  return { at, fault: { kind: "drop" } };
}

/** A client that heard nothing, or of a failure, asks again for the same workflow. */
async function start(world: TestWorld, input: unknown): Promise<TestRun | undefined> {
  for (let attempt = 0; attempt < startsMax; attempt++) {
    try {
      return await world.start(input, { workflowId });
    } catch {
      await world.runUntilIdle();
    }
  }
  return undefined;
}

async function look(world: TestWorld, run: TestRun): Promise<Rest> {
  const history = await world.engine.stored.history(run.id);
  if (!history) throw new Error(`run ${run.id} was started and is not stored`);
  return { history, operations: await run.operations(), effects: world.effects() };
}

/** A reviewer whose answer came to nothing asks again; the next round does. */
async function decide({ decide: says }: CompleteScript, run: TestRun, { node }: Waiter): Promise<void> {
  try {
    await (says(node) === "approve" ? run.approve(node) : run.reject(node));
  } catch {
    return;
  }
}

/** What an honest operator does: looks at the other side and says what is there, or mends and resumes. @returns false where there is nothing to do. */
async function help(
  { agent }: CompleteScript,
  world: TestWorld,
  run: TestRun,
  { history, operations }: Rest,
  waiter: Waiter | undefined,
): Promise<boolean> {
  const awaited = waiter?.kind === "approval" ? undefined : waiter?.operation_id;
  const entry = operations.find(({ operation_id }) => operation_id === awaited);
  try {
    if (waiter && entry && ["UNKNOWN", "PENDING"].includes(entry.status)) {
      const tool = toolsOf(agent).find(({ name }) => name === entry.action_name) as unknown as WriteTool | undefined;
      const [effect] = world.effects().filter(({ key }) => key === entry.operation_id);
      if (effect) {
        const externalRef = tool?.externalRef?.(effect.result);
        await run.resolve(waiter.node, {
          outcome: "succeeded",
          result: effect.result,
          ...(externalRef !== undefined && { externalRef }),
        });
      } else if (entry.status === "PENDING") {
        await run.resolve(waiter.node, { outcome: "succeeded", externalRef: "done-by-hand" });
      } else await run.resolve(waiter.node, { outcome: "retry" });
      return true;
    }
    if (history.run.status !== "PARKED") return false;
    await run.resume();
    return true;
  } catch {
    // A strike hit the operator's own request: the next round repeats it.
    return true;
  }
}
