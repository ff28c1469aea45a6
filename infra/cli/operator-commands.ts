import type { Command } from "commander";
import { Moved, Resolved } from "./api-shapes.ts";
import { CliError } from "./cli-error.ts";
import { readInput } from "./read-input.ts";
import { sessionOf, wholeNumber } from "./session.ts";

const outcomes = ["succeeded", "failed", "retry"] as const;

interface ResolveOptions {
  readonly outcome: string;
  readonly evidence: string;
  readonly externalRef?: string;
  readonly result?: string;
  readonly expectedVersion?: string;
  readonly by?: string;
}

/** What an operator does: says what happened, lets a run go on, or ends it. */
export function addOperatorCommands(program: Command): void {
  program
    .command("resolve <operation_id>")
    .description("say whether an UNKNOWN side effect happened; its run goes on from there")
    .requiredOption(
      "--outcome <outcome>",
      `${outcomes.join(", ")}: it happened, it did not, or it did not and may be tried again`,
    )
    .requiredOption("--evidence <text>", "where you looked and what you saw; kept with the operation")
    .option("--external-ref <ref>", "its reference on the other side, where it succeeded")
    .option(
      "--result <json>",
      "what the tool would have answered, where a reference does not say it: JSON, @file, or -",
    )
    .option("--expected-version <n>", "refuse if the operation is no longer the version you looked at")
    .option("--by <name>", "who decides (default: the user of this shell)", process.env["USER"])
    .action(async (id: string, options: ResolveOptions, command: Command) => {
      const { output, api } = sessionOf(command);
      const body = {
        outcome: outcomeOf(options.outcome),
        evidence: options.evidence,
        by: options.by,
        external_ref: options.externalRef,
        ...(options.result !== undefined && { result: readInput(options.result) }),
        ...(options.expectedVersion !== undefined && {
          expected_version: wholeNumber("--expected-version", options.expectedVersion, 1, Number.MAX_SAFE_INTEGER),
        }),
      };
      const { body: raw } = await api().post(`/operations/${encodeURIComponent(id)}/resolution`, body);
      const { operation, changed } = Resolved.parse(raw);
      output.result(
        raw,
        () =>
          `${operation.operation_id} is ${operation.status}${changed ? "" : " (you said so before)"}; surefoot trace ${operation.run_id} shows how it goes on`,
      );
    });
  program
    .command("resume <run_id>")
    .description("let a parked run go on from its log, once its cause is mended")
    .option("--version <n>", "take it to that version of its agent, where it may go (default: the one that it is on)")
    .option("--by <name>", "who resumes (default: the user of this shell)", process.env["USER"])
    .action(async (id: string, options: { readonly by?: string; readonly version?: string }, command: Command) => {
      const { output, api } = sessionOf(command);
      const version = options.version && wholeNumber("--version", options.version, 1, Number.MAX_SAFE_INTEGER);
      const body = { by: options.by, ...(version !== undefined && { version }) };
      const { body: raw } = await api().post(`/runs/${encodeURIComponent(id)}/resume`, body);
      const { run_id, status, to_version, verdict, asks_again } = Moved.parse(raw);
      const where =
        to_version === undefined
          ? ""
          : ` on its way to version ${to_version} (${verdict ?? "same"}${asks_again ? ", its approval is asked for again" : ""})`;
      output.result(raw, () => `${run_id} is ${status}${where}; surefoot trace ${run_id} shows how it goes on`);
    });
  program
    .command("cancel <run_id>")
    .description("start nothing new for a run; what is in flight settles and is recorded")
    .option("--compensate", "undo first what the run has done, where its agent says how")
    .option("--by <name>", "who cancels (default: the user of this shell)", process.env["USER"])
    .action(async (id: string, options: { readonly by?: string; readonly compensate?: boolean }, command: Command) => {
      const { output, api } = sessionOf(command);
      const body = { by: options.by, compensate: options.compensate ?? false };
      const { body: raw } = await api().post(`/runs/${encodeURIComponent(id)}/cancel`, body);
      const { run_id, status, compensating } = Moved.parse(raw);
      output.result(raw, () =>
        compensating
          ? `${run_id} is being compensated; surefoot trace ${run_id} shows how far`
          : `${run_id} is ${status}; surefoot operations --run ${run_id} shows what had happened`,
      );
    });
}

function outcomeOf(text: string): (typeof outcomes)[number] {
  const outcome = outcomes.find((candidate) => candidate === text);
  if (outcome) return outcome;
  throw new CliError(2, "bad_outcome", `--outcome: expected one of ${outcomes.join(", ")}, found "${text}"`);
}
