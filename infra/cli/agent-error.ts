import { CliError } from "./cli-error.ts";

/** What a caller is told whose agent module does not load, or whose committed files do not; undefined where the error is about something else. */
export function agentError(error: unknown): CliError | undefined {
  if (!(error instanceof Error)) return undefined;
  if (["ContractFileError", "RecordedRunError"].includes(error.name)) return new CliError(2, "bad_file", error.message);
  const isAgents = ["BundleError", "AgentDefinitionError", "AgentModuleError"].includes(error.name);
  return isAgents ? new CliError(2, "bad_agent", inOurWords(error.message)) : undefined;
}

/** The bundler speaks of its own generated module and of its own options: neither is anything a caller can act on. */
function inOurWords(message: string): string {
  return message
    .replaceAll(
      /^.*No matching export in "(.+)" for import "default"/gmu,
      "$1: expected an agent as default export, found none: export default defineAgent(…).….end()",
    )
    .replaceAll(/ \(You can mark the path .*\)$/gmu, ": install it beside the agent");
}
