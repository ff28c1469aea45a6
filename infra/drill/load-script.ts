import { existsSync } from "node:fs";
import { extname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { tsImport } from "tsx/esm/api";
import type { Agent } from "../../shared/agent/agent.ts";
import type { DrillScript } from "./drill-script.ts";

/**
 * Finds what to drill: the name of the agent that ships, or a module whose default export is an agent or a drill script. Beside an agent's
 * module, `<module>.drill.ts` (or `.js`) is taken for its script.
 * @throws Error `DrillModuleError` that says what was expected and found.
 */
export async function loadScript(what: string): Promise<DrillScript> {
  if (what === "refund-agent") return scriptFrom(await load(shippedScript()), what);
  const path = resolve(what);
  if (!existsSync(path)) {
    throw drillModuleError(
      `expected refund-agent, or the path of a module with an agent or a drill script, found nothing at ${what}`,
    );
  }
  const extension = extname(path);
  const beside = `${path.slice(0, -extension.length)}.drill${extension}`;
  return scriptFrom(await load(existsSync(beside) ? beside : path), what);
}

function shippedScript(): string {
  const source = fileURLToPath(new URL("./refund-agent.drill.ts", import.meta.url));
  return existsSync(source) ? source : source.replace(/\.ts$/u, ".js");
}

async function load(path: string): Promise<unknown> {
  const url = pathToFileURL(path).href;
  try {
    const module = (path.endsWith(".ts") ? await tsImport(url, import.meta.url) : await import(url)) as {
      readonly default?: unknown;
    };
    return module.default;
  } catch (error) {
    if (error instanceof Error && error.name === "AgentDefinitionError") throw error;
    throw drillModuleError(
      `${path} threw while it was loaded: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function scriptFrom(exported: unknown, what: string): DrillScript {
  if (isAgent(exported)) return { agent: exported };
  if (typeof exported === "object" && exported !== null && "agent" in exported && isAgent(exported.agent)) {
    return exported as DrillScript;
  }
  throw drillModuleError(
    `${what}: expected its default export to be an agent (defineAgent(…).….end()) or a drill script (defineDrill({ agent, … }))`,
  );
}

const isAgent = (value: unknown): value is Agent =>
  typeof value === "object" && value !== null && "nodes" in value && Array.isArray(value.nodes);

const drillModuleError = (message: string): Error => Object.assign(new Error(message), { name: "DrillModuleError" });
