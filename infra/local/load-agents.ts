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
 * @throws Error with one line per fault.
 */
export async function loadAgents(modulePaths: readonly string[], folder: string): Promise<readonly Agent[]> {
  const bundle = await bundleLambda({
    entry: lambdaEntry("agents"),
    agentModules: [...modulePaths],
    outdir: join(folder, "agents"),
  });
  // The digest defeats the module cache: a changed agent is another module.
  const loaded = AgentsModule.safeParse(await import(`${pathToFileURL(bundle.file).href}?${bundle.sha256}`));
  if (loaded.success) return loaded.data.default;
  throw new Error(
    `expected each of ${modulePaths.join(", ")} to export an agent by default: export default defineAgent(…).….end()`,
  );
}
