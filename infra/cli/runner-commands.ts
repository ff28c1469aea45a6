import type { Command } from "commander";
import { sessionOf, wholeNumber } from "./session.ts";

/** What runs on this machine. Loaded when asked for: the other commands start faster without it. */
export function addRunnerCommands(program: Command): void {
  program
    .command("serve")
    .description("run agents on this machine until stopped; open runs go on from the log")
    .option("--port <number>", "of the HTTP API on 127.0.0.1; 0 takes a free one", "4310")
    .option("--agent <module...>", "modules with an agent as default export (default: the shipped refund agent)")
    .action(async (options: { port: string; agent?: string[] }, command: Command) => {
      const port = wholeNumber("--port", options.port, 0, 65_535);
      const { output, folder } = sessionOf(command);
      const { serve } = await import("./serve.ts");
      await serve({ port, agentModules: options.agent ?? [], folder, output });
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
