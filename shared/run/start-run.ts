import type { Agent } from "../agent/agent.ts";
import { firstNode } from "../agent/agent.ts";
import type { Person } from "../approval/person.ts";
import { compensableNodes } from "../agent/compensation.ts";
import { keepContract } from "../contract/kept-contract.ts";
import { checkpointSchemaVersion } from "../contract/manifest.ts";
import { BadRequest } from "../faults/faults.ts";
import { canonicalJson, digestOf } from "../operation/canonical-json.ts";
import { packValue } from "../payloads/claim-check.ts";
import { isoTime } from "../ports/clock.ts";
import type { Executions } from "../ports/executions.ts";
import { positionAt } from "../runlog/position.ts";
import { executionName, RunId, type RunRecord } from "../runlog/run-record.ts";
import type { RunPorts } from "./ports.ts";

export interface StartRequest {
  readonly workflowId: string;
  readonly input: unknown;
  /** Whether a new run may follow one that has ended. */
  readonly allowNewRun: boolean;
  /** Who asks for it, where that is known. An approval may have to be decided by somebody else. */
  readonly startedBy?: Person | undefined;
}

export interface Started {
  readonly run: RunRecord;
  readonly created: boolean;
  /** False when the workflow's run was started with another input: nothing was started. */
  readonly sameInput: boolean;
}

/** UTF-8 bytes of a run's input: what API Gateway lets through, less room for the rest of the request. */
export const inputBytesMax = 6 * 1024 * 1024;

/**
 * Starts a run of `agent` for a workflow id, or returns the one that exists. Checks everything before it writes anything.
 * @throws BadRequest that says which field is wrong.
 */
export async function startRun(
  agent: Agent,
  stateMachineArn: string,
  request: StartRequest,
  ports: RunPorts & { readonly executions: Executions },
): Promise<Started> {
  const input = checkInput(agent, request.input);
  const runId = newRunId(agent.name, ports);
  const now = isoTime(ports.clock.nowMs());
  const inputDigest = digestOf(input);
  const { record: run, written } = await ports.log.open(
    {
      run_id: runId,
      agent: agent.name,
      workflow_id: request.workflowId,
      workflow_version: agent.version,
      contract_digest: await keepContract(agent, ports),
      checkpoint_schema_version: checkpointSchemaVersion,
      status: "RUNNING",
      input: await packValue(ports.payloads, runId, input),
      input_digest: inputDigest,
      state_machine_arn: stateMachineArn,
      entry: firstNode(agent).name,
      execution: executionName(runId, 1),
      execution_attempt: 1,
      ...(request.startedBy && { started_by: request.startedBy }),
      ...(compensableNodes(agent).length > 0 && { compensates: true }),
      created_at: now,
      updated_at: now,
      write_id: ports.ids.next(),
    },
    request.allowNewRun,
  );
  // Also for a run that exists: its starter may have died before this call, and a second start of the same name changes nothing.
  if (run.status === "RUNNING" && run.execution_attempt === 1) {
    await ports.executions.start(run.state_machine_arn, run.execution, {
      run_id: run.run_id,
      position: positionAt(0, run.entry),
      next: run.entry,
    });
  }
  ports.logger.info(written ? "run started" : "run exists", {
    run_id: run.run_id,
    workflow_id: run.workflow_id,
    workflow_version: run.workflow_version,
  });
  return { run, created: written, sameInput: run.input_digest === inputDigest };
}

function checkInput(agent: Agent, input: unknown): unknown {
  const parsed = agent.input.safeParse(input);
  if (!parsed.success) {
    const problems = parsed.error.issues
      .map((issue) => `${["input", ...issue.path].join(".")}: ${issue.message}`)
      .join("; ");
    throw new BadRequest(
      "invalid_input",
      `the input does not fit agent ${agent.name}: ${problems}. Nothing was started`,
    );
  }
  const bytes = Buffer.byteLength(canonicalJson(parsed.data), "utf8");
  if (bytes > inputBytesMax) {
    throw new BadRequest(
      "input_too_large",
      `expected an input of at most ${inputBytesMax} bytes, found ${bytes}: pass a reference instead`,
      413,
    );
  }
  return parsed.data;
}

/** `refund-agent-20260902-7k3m9qz2h4x1`: an agent, a day, and chance. */
function newRunId(agent: string, { clock, ids }: Pick<RunPorts, "clock" | "ids">): RunId {
  const day = isoTime(clock.nowMs()).slice(0, 10).replaceAll("-", "");
  return RunId.parse(`${agent}-${day}-${ids.next().slice(0, 12)}`);
}
