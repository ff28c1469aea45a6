import type { Command } from "commander";
import { type ApiClient } from "./api-client.ts";
import { Operations, Run, Runs, Started } from "./api-shapes.ts";
import { CliError } from "./cli-error.ts";
import { describeOperations, describeRun } from "./describe-run.ts";
import { table } from "./output.ts";
import { readInput } from "./read-input.ts";
import { queryOf, sessionOf, wholeNumber } from "./session.ts";

/** Rows that the API lists at most. */
const listLimitMax = 200;

export function addRunCommands(program: Command): void {
  addStart(program);
  addRuns(program);
  addTrace(program);
  addOperations(program);
}

function addStart(program: Command): void {
  program
    .command("start <agent>")
    .description("start a run, or return the one that the workflow id has")
    .requiredOption("--workflow-id <id>", "your name for the business task: a ticket, an order")
    .requiredOption("--input <json>", "JSON text, @file.json, or - for standard input")
    .option("--allow-new-run", "a new run may follow one that has ended")
    .option("--by <name>", "who starts it (default: the user of this shell)", process.env["USER"])
    .action(
      async (
        agent: string,
        options: { workflowId: string; input: string; allowNewRun?: boolean; by?: string },
        command: Command,
      ) => {
        const { output, api } = sessionOf(command);
        const input = readInput(options.input);
        const body = {
          agent,
          workflow_id: options.workflowId,
          input,
          allow_new_run: options.allowNewRun ?? false,
          by: options.by,
        };
        const started = Started.parse((await api().post("/runs", body)).body);
        if (started.same_input === false) {
          process.stderr.write(
            `warning: run ${started.run_id} was started with another input, which is the one that counts\n`,
          );
        }
        output.result(started, () => `${started.run_id}  ${started.status}${started.created ? "" : existing(started)}`);
      },
    );
}

function existing({ status }: Started): string {
  const ended = !["RUNNING", "WAITING", "PARKED"].includes(status);
  return `  (exists: the workflow id has this run${ended ? "; --allow-new-run starts another" : ""})`;
}

function addRuns(program: Command): void {
  program
    .command("runs")
    .description("list runs, newest first")
    .option("--agent <name>", "only runs of this agent")
    .option("--workflow-id <id>", "only runs of this workflow id")
    .option("--status <status>", "only RUNNING, WAITING, PARKED, SUCCEEDED, FAILED or CANCELLED ones")
    .option("--limit <n>", `rows at most, up to ${listLimitMax}`, "50")
    .action(
      async (options: { agent?: string; workflowId?: string; status?: string; limit: string }, command: Command) => {
        const { output, api } = sessionOf(command);
        const limit = wholeNumber("--limit", options.limit, 1, listLimitMax);
        const query = queryOf({
          agent: options.agent,
          workflow_id: options.workflowId,
          status: options.status?.toUpperCase(),
          limit: String(limit),
        });
        const raw = await api().get(`/runs${query}`);
        const { runs } = Runs.parse(raw);
        output.result(raw, () =>
          runs.length === 0
            ? "no runs"
            : table(
                ["RUN", "STATUS", "WORKFLOW", "WAITS FOR", "UPDATED"],
                runs.map((run) => [run.run_id, run.status, run.workflow_id, run.waiting_for ?? "-", run.updated_at]),
              ),
        );
      },
    );
}

function addTrace(program: Command): void {
  program
    .command("trace <run_id|workflow_id>")
    .description("what happened, what is unknown, what to do next")
    .action(async (id: string, _options: unknown, command: Command) => {
      const { output, api } = sessionOf(command);
      const { raw, older } = await findRun(api(), id);
      if (older.length > 0) process.stderr.write(`newest run of workflow ${id}; older: ${older.join(", ")}\n`);
      output.result(raw, () => describeRun(Run.parse(raw)));
    });
}

/** A run id, or the newest run of a workflow id. */
async function findRun(
  api: ApiClient,
  id: string,
): Promise<{ readonly raw: unknown; readonly older: readonly string[] }> {
  try {
    const [newest, ...older] = Runs.parse(await api.get(`/runs${queryOf({ workflow_id: id })}`)).runs;
    const raw = await api.get(`/runs/${encodeURIComponent(newest?.run_id ?? id)}`);
    return { raw, older: older.map((run) => run.run_id) };
  } catch (error) {
    const notThere = error instanceof CliError && error.exitCode === 2;
    if (!notThere) throw error;
    throw new CliError(2, "unknown_run", `no run and no workflow is called "${id}": surefoot runs lists what there is`);
  }
}

function addOperations(program: Command): void {
  program
    .command("operations")
    .description("list side effects by run or by status (default: UNKNOWN ones of all runs)")
    .option("--run <run_id>", "of this run")
    .option("--status <status>", "PENDING, STARTED, FAILED_RETRYABLE or UNKNOWN across all runs; any with --run")
    .action(async (options: { run?: string; status?: string }, command: Command) => {
      const { output, api } = sessionOf(command);
      const status = options.status?.toUpperCase() ?? (options.run === undefined ? "UNKNOWN" : undefined);
      const raw = await api().get(`/operations${queryOf({ run_id: options.run, status })}`);
      const { operations } = Operations.parse(raw);
      output.result(raw, () =>
        operations.length === 0
          ? `no operations${status === undefined ? "" : ` are ${status}`}`
          : describeOperations(operations),
      );
    });
}
