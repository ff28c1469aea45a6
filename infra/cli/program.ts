import { Command, Option } from "commander";
import { addApprovalCommands } from "./approval-commands.ts";
import { addContractCommands } from "./contract-commands.ts";
import { addDrillCommand } from "./drill-command.ts";
import { addForkCommand } from "./fork-command.ts";
import { addOperatorCommands } from "./operator-commands.ts";
import { addReleaseCommands } from "./release-commands.ts";
import { addRemindCommand } from "./remind-command.ts";
import { addRunCommands } from "./run-commands.ts";
import { addRunnerCommands } from "./runner-commands.ts";

const addressHelp = "Where the API is: --api, else SUREFOOT_API, else the runner started in --folder.";
const exitHelp = "Exit codes: 0 done, 1 tried without success, 2 wrong command or input, 3 nobody answers at the API.";

/** The `surefoot` command. Global options may stand before or after a command's name. It throws instead of exiting. */
export function createProgram(): Command {
  const program = new Command("surefoot")
    .description("Runs LLM agents so that every side effect happens once, or somebody is told.")
    .option("--json", "one JSON value as the last line of standard output")
    .addOption(new Option("--api <url>", "address of the HTTP API").env("SUREFOOT_API"))
    .option("--folder <path>", "where the local runner keeps everything", ".surefoot")
    .addHelpText("afterAll", `\n${addressHelp}\n${exitHelp}`)
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  for (const add of [
    addRunnerCommands,
    addRunCommands,
    addApprovalCommands,
    addRemindCommand,
    addOperatorCommands,
    addForkCommand,
    addReleaseCommands,
    addContractCommands,
    addDrillCommand,
  ])
    add(program);
  sayWhereHelpIs(program, "surefoot");
  return program;
}

function sayWhereHelpIs(command: Command, name: string): void {
  command.showHelpAfterError(`(${name} --help says more)`);
  for (const sub of command.commands) sayWhereHelpIs(sub, `${name} ${sub.name()}`);
}
