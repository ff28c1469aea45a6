import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import type { Agent } from "../../shared/agent/agent.ts";
import { bundleLambda } from "../bundle-lambda.ts";
import { lambdaEntry } from "../lambda-entry.ts";

const AgentsModule = z.object({
  default: z.array(z.custom<Agent>((value) => typeof value === "object" && value !== null && "nodes" in value)),
});

/**
 * Loads agents from their modules, `.ts` or `.js`, each with its agent as default export. They are bundled first, exactly as for Lambda,
 * so that plain node loads TypeScript too and a module that cannot be bundled is found here.
 * @throws Error `BundleError` with one line per fault, `AgentDefinitionError`, or `AgentModuleError` that names the module.
 */
export async function loadAgents(modulePaths: readonly string[], folder: string): Promise<readonly Agent[]> {
  const bundle = await bundleLambda({
    entry: lambdaEntry("agents"),
    agentModules: [...modulePaths],
    outdir: join(folder, "agents"),
  });
  // The digest defeats the module cache: a changed agent is another module.
  const loaded = AgentsModule.safeParse(await load(`${pathToFileURL(bundle.file).href}?${bundle.sha256}`, modulePaths));
  if (!loaded.success) {
    throw agentModuleError(
      `expected each of ${modulePaths.join(", ")} to export an agent by default: export default defineAgent(…).….end()`,
    );
  }
  const names = loaded.data.default.map((agent) => agent.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return loaded.data.default;
  throw agentModuleError(`two of ${modulePaths.join(", ")} define agent "${twice}": give each its own name`);
}

async function load(url: string, modulePaths: readonly string[]): Promise<unknown> {
  try {
    return await import(url);
  } catch (error) {
    if (error instanceof Error && error.name === "AgentDefinitionError") throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw agentModuleError(`one of ${modulePaths.join(", ")} threw while it was loaded: ${why}`, error);
  }
}

const agentModuleError = (message: string, cause?: unknown): Error =>
  Object.assign(new Error(message, { cause }), { name: "AgentModuleError" });
