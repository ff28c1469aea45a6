import type { Command } from "commander";
import { Forked } from "./api-shapes.ts";
import { table } from "./output.ts";
import { sessionOf, wholeNumber } from "./session.ts";

interface ForkOptions {
  readonly at: string;
  readonly live?: boolean;
  readonly version?: string;
  readonly repeat?: readonly string[];
  readonly by?: string;
}

/** Another try from the middle of a run, which may be one that has ended. */
export function addForkCommand(program: Command): void {
  program
    .command("fork <run_id>")
    .description("make a new run with the log of another up to a position; its effects are simulated unless --live")
    .requiredOption("--at <position>", "where it goes on, e.g. 0003.refund: surefoot trace shows the positions")
    .option("--live", "let its writes reach the outside, and its approvals ask people")
    .option("--repeat <operation_id...>", "with --live: operations of the run that may be done once more, each by name")
    .option("--version <n>", "the version it goes on under, where that may (default: the run's own)")
    .option("--by <name>", "who forks (default: the user of this shell)", process.env["USER"])
    .action(async (id: string, options: ForkOptions, command: Command) => {
      const { output, api } = sessionOf(command);
      const { version } = options;
      const body = {
        at: options.at,
        live: options.live ?? false,
        by: options.by,
        ...(options.repeat && { repeat: options.repeat }),
        ...(version !== undefined && { version: wholeNumber("--version", version, 1, Number.MAX_SAFE_INTEGER) }),
      };
      const { body: raw } = await api().post(`/runs/${encodeURIComponent(id)}/fork`, body, [200, 201]);
      output.result(raw, () => describeFork(Forked.parse(raw)));
    });
}

export function describeFork(fork: Forked): string {
  const { run_id, simulated, created, records_taken, repeats, writes_ahead } = fork;
  const what = `${records_taken} records of ${fork.forked_from.run_id} before ${fork.forked_from.at}`;
  const ahead = writes_ahead.length === 0 ? "no writes lie ahead" : `writes ahead: ${writes_ahead.join(", ")}`;
  return [
    `${run_id} ${created ? "goes on from" : "was forked before, from"} ${what}; ${ahead}`,
    simulated
      ? "Simulated: no write and no approval of it reaches anybody; models and reads are real."
      : "Live: its writes are new operations.",
    ...(repeats.length > 0
      ? [
          "",
          simulated ? "That run did this from there on; here it is made up:" : "Done once more, as you said:",
          table(
            ["OPERATION", "ACTION", "KEY", "STATUS"],
            repeats.map((one) => [one.operation_id, one.action_name, one.business_key, one.status]),
          ),
        ]
      : []),
    "",
    `surefoot trace ${run_id} shows how it goes on`,
  ].join("\n");
}
