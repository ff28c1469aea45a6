import { Command, Option } from "commander";
import { z } from "zod";
import { type ApiClient, findApi } from "./api-client.ts";
import { Approvals, Decided, Operations, Run, Runs, Started } from "./api-shapes.ts";
import { CliError } from "./cli-error.ts";
import { describeApproval } from "./describe-approval.ts";
import { describeOperations, describeRun } from "./describe-run.ts";
import { createOutput, type Output, table } from "./output.ts";
import { readInput } from "./read-input.ts";

interface Globals {
  readonly json?: boolean;
  readonly api?: string;
  readonly folder: string;
}

/** What every command gets: where to write, and the API when it wants it. */
interface Session {
  readonly output: Output;
  readonly api: () => ApiClient;
  readonly folder: string;
}

const addressHelp = "Where the API is: --api, else SUREFOOT_API, else the runner started in --folder.";
const exitHelp = "Exit codes: 0 done, 1 tried without success, 2 wrong command or input, 3 nobody answers at the API.";

/** The `surefoot` command. */
export function createProgram(): Command {
  const program = new Command("surefoot")
    .description("Runs LLM agents so that every side effect happens once, or somebody is told.")
    .option("--json", "one JSON value as the last line of standard output")
    .addOption(new Option("--api <url>", "address of the HTTP API").env("SUREFOOT_API"))
    .option("--folder <path>", "where the local runner keeps everything", ".surefoot")
    .addHelpText("after", `\n${addressHelp}\n${exitHelp}`)
    .showHelpAfterError("(surefoot --help says more)")
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text) });

  const sessionOf = (command: Command): Session => {
    const globals = command.optsWithGlobals<Globals>();
    return {
      output: createOutput(globals.json ?? false),
      api: () => findApi({ api: globals.api, folder: globals.folder }),
      folder: globals.folder,
    };
  };

  addRunnerCommands(program, sessionOf);
  addRunCommands(program, sessionOf);
  addApprovalCommands(program, sessionOf);
  return inherit(program);
}

/** Every subcommand takes `--json` after its own name too, and throws instead of exiting. */
function inherit(program: Command): Command {
  for (const command of program.commands) {
    command.option("--json", "one JSON value as the last line of standard output").exitOverride();
    command.configureOutput({ outputError: (text, write) => write(text) });
  }
  return program;
}

type SessionOf = (command: Command) => Session;

function addRunnerCommands(program: Command, sessionOf: SessionOf): void {
  program
    .command("serve")
    .description("run agents on this machine until stopped; open runs go on from the log")
    .option("--port <number>", "of the HTTP API on 127.0.0.1", "4310")
    .option("--agent <module...>", "modules with an agent as default export (default: the shipped refund agent)")
    .action(async (options: { port: string; agent?: string[] }, command: Command) => {
      const { serve } = await import("./serve.ts");
      const session = sessionOf(command);
      await serve({
        port: portOf(options.port),
        agentModules: options.agent ?? [],
        folder: session.folder,
        output: session.output,
      });
    });
  program
    .command("demo")
    .description("refund once although the worker is killed after the payment and before the record")
    .option("--keep <folder>", "keep tables, logs and bundles in this folder")
    .action(async (options: { keep?: string }, command: Command) => {
      const { demo } = await import("./demo.ts");
      process.exitCode = await demo({ output: sessionOf(command).output, keep: options.keep });
    });
}

function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new CliError(2, "bad_port", `--port: expected a number from 0 to 65535, found "${text}"`);
}

function addRunCommands(program: Command, sessionOf: SessionOf): void {
  program
    .command("start <agent>")
    .description("start a run, or return the one that the workflow id has")
    .requiredOption("--workflow-id <id>", "your name for the business task: a ticket, an order")
    .requiredOption("--input <json>", "JSON text, @file.json, or - for standard input")
    .option("--allow-new-run", "a new run may follow one that has ended")
    .action(
      async (
        agent: string,
        options: { workflowId: string; input: string; allowNewRun?: boolean },
        command: Command,
      ) => {
        const { output, api } = sessionOf(command);
        const input = readInput(options.input);
        const body = { agent, workflow_id: options.workflowId, input, allow_new_run: options.allowNewRun ?? false };
        const started = Started.parse((await api().post("/runs", body)).body);
        if (started.same_input === false) {
          process.stderr.write(
            `warning: run ${started.run_id} was started with another input, which is the one that counts\n`,
          );
        }
        output.result(
          started,
          () =>
            `${started.run_id}  ${started.status}${started.created ? "" : "  (exists: the workflow id has this run)"}`,
        );
      },
    );
  program
    .command("runs")
    .description("list runs, newest first")
    .option("--agent <name>", "only runs of this agent")
    .option("--workflow-id <id>", "only runs of this workflow id")
    .option("--status <status>", "only runs with this status")
    .option("--limit <n>", "rows at most", "50")
    .action(
      async (options: { agent?: string; workflowId?: string; status?: string; limit: string }, command: Command) => {
        const { output, api } = sessionOf(command);
        const query = queryOf({ agent: options.agent, workflow_id: options.workflowId, limit: options.limit });
        const all = Runs.parse(await api().get(`/runs${query}`)).runs;
        const runs = all.filter((run) => options.status === undefined || run.status === options.status.toUpperCase());
        output.result({ runs }, () =>
          table(
            ["RUN", "STATUS", "WORKFLOW", "WAITS FOR", "UPDATED"],
            runs.map((run) => [run.run_id, run.status, run.workflow_id, run.waiting_for ?? "-", run.updated_at]),
          ),
        );
      },
    );
  program
    .command("trace <run_id|workflow_id>")
    .description("what happened, what is unknown, what to do next")
    .action(async (id: string, _options: unknown, command: Command) => {
      const { output, api } = sessionOf(command);
      const raw = await findRun(api(), id);
      output.result(raw, () => describeRun(Run.parse(raw)));
    });
  program
    .command("operations")
    .description("list side effects by run or by status")
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

/** A run id, or the newest run of a workflow id. */
async function findRun(api: ApiClient, id: string): Promise<unknown> {
  const { runs } = Runs.parse(await api.get(`/runs${queryOf({ workflow_id: id })}`));
  return api.get(`/runs/${encodeURIComponent(runs[0]?.run_id ?? id)}`);
}

function addApprovalCommands(program: Command, sessionOf: SessionOf): void {
  program
    .command("approvals")
    .description("list what waits for a person")
    .action(async (_options: unknown, command: Command) => {
      const { output, api } = sessionOf(command);
      const raw = await api().get("/approvals");
      const { approvals } = Approvals.parse(raw);
      output.result(raw, () =>
        approvals.length === 0 ? "nothing waits for a person" : approvals.map(describeApproval).join("\n\n"),
      );
    });
  for (const decision of ["approve", "reject"] as const) {
    program
      .command(`${decision} <approval_id>`)
      .description(
        decision === "approve" ? "let exactly the shown request be sent" : "turn the request back, with your words",
      )
      .option("--by <name>", "who decides (default: the user of this shell)", process.env["USER"])
      .option("--comment <text>", decision === "approve" ? "for the record" : "the agent plans again with it")
      .action(async (id: string, options: { by?: string; comment?: string }, command: Command) => {
        const { output, api } = sessionOf(command);
        const body = { decision, by: options.by, comment: options.comment };
        const { body: raw } = await api().post(`/approvals/${encodeURIComponent(id)}`, body);
        const { decision: decided, run_id } = Decided.parse(raw);
        output.result(
          raw,
          () =>
            `${decided.outcome} by ${decided.by ?? "nobody"} at ${decided.at}; surefoot trace ${run_id} shows how it goes on`,
        );
      });
  }
}

const queryOf = (values: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
};

/** A problem of the shapes above, in the user's words. */
export const isShapeError = (error: unknown): error is z.ZodError => error instanceof z.ZodError;
