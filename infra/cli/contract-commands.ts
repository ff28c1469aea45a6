import { join } from "node:path";
import { type Command, Option } from "commander";
import type { CheckOptions } from "./contract.ts";
import { sessionOf } from "./session.ts";

const agentHelp = "modules with an agent as default export (default: the shipped refund agent)";
const exitHelp = `
Exits with 0 where this version is what was released, differs where no open run can tell, or is a new one;
with 1 where runs of this version would meet another contract under its name.`;

/** What every run relies on, and whether a change keeps it. Loaded when asked for: the other commands start faster without it. */
export function addContractCommands(program: Command): void {
  const contract = program
    .command("contract")
    .description("what open runs rely on: compare an agent with its releases, or release it");
  contract
    .command("check")
    .description("compare agents as they are now with their released contracts and with recorded runs")
    .option("--agent <module...>", agentHelp)
    .option("--replay <folder>", "recorded runs, <agent>/<version>/<case>.json", join("test", "replay"))
    .addOption(new Option("--against <what>", "also the open runs of the stack at --api").choices(["live"]))
    .addHelpText("after", exitHelp)
    .action(async (options: CheckOptions, command: Command) => {
      const { checkContracts } = await import("./contract.ts");
      process.exitCode = await checkContracts(options, sessionOf(command));
    });
  contract
    .command("release")
    .description("write the contract of each agent's version beside its module; never over another one")
    .option("--agent <module...>", agentHelp)
    .action(async (options: { agent?: string[] }, command: Command) => {
      const { releaseContracts } = await import("./contract.ts");
      await releaseContracts(options.agent, sessionOf(command));
    });
}
