import { pathToFileURL } from "node:url";
import { z } from "zod";
import { isProgram, siblingModule } from "../child-process.ts";
import { chatAnswer, ChatRequest, chatError, promptOf } from "./chat-completion.ts";
import { serveControl } from "./control-routes.ts";
import { runAsProgram, type RunningDownstream } from "./downstream-program.ts";
import { FaultBase, FaultDelay, FaultQueue } from "./fault-queue.ts";
import { listenHttp, type Exchange } from "./http-server.ts";
import { Milestones } from "./milestones.ts";

export interface ModelScriptRequest {
  /** `response_format.json_schema.name`; undefined where the client asked for no schema. */
  readonly schemaName: string | undefined;
  readonly system: string;
  readonly user: string;
  readonly model: string;
  /** How often this schema name was asked so far, this request included. */
  readonly ordinal: number;
}

/** Plays the model: the JSON answer for one request. A string is given back as it is. What it throws becomes a 400 that says so. */
export type ModelScript = (request: ModelScriptRequest) => unknown;

export interface ModelServerOptions {
  readonly script: ModelScript;
  /** @default a free port */
  readonly port?: number | undefined;
}

const LoggedRequest = z.object({
  ordinal: z.number(),
  schema: z.string().nullable(),
  model: z.string(),
  /** The injected fault, or how it was answered. */
  outcome: z.string(),
});

/** What `GET requests` gives. */
export const ModelRequests = z.object({
  requests: z.number(),
  by_schema: z.record(z.string(), z.number()),
  log: z.array(LoggedRequest),
});
export type ModelRequests = z.infer<typeof ModelRequests>;

/** `schema` narrows a fault to one schema name. @default any request */
const Fault = FaultBase.extend({ schema: z.string().optional() });

export const ModelFault = z.discriminatedUnion("fault", [
  Fault.extend({
    fault: z.literal("status"),
    status: z.number().int().min(400).max(599),
    retry_after_seconds: z.number().int().nonnegative().optional(),
  }),
  /** Valid JSON that no object schema accepts. */
  Fault.extend({ fault: z.literal("invalid_answer") }),
  Fault.extend({ fault: z.literal("not_json") }),
  Fault.extend({ fault: z.literal("slow"), ...FaultDelay }),
  /** No answer until the faults are cleared. */
  Fault.extend({ fault: z.literal("hang") }),
]);
export type ModelFault = z.infer<typeof ModelFault>;

/** Speaks OpenAI's chat completions, non-streaming, with a script in the model's place. */
export async function startModelServer(options: ModelServerOptions): Promise<RunningDownstream> {
  const faults = new FaultQueue<ModelFault>();
  const milestones = new Milestones(["request"]);
  const bySchema: Record<string, number> = {};
  const log: z.infer<typeof LoggedRequest>[] = [];

  const complete = async (exchange: Exchange): Promise<void> => {
    const parsed = ChatRequest.safeParse(jsonOrUndefined(exchange.body));
    if (!parsed.success) return chatError(exchange, 400, z.prettifyError(parsed.error));
    const request = parsed.data;
    const schemaName = request.response_format?.json_schema?.name;
    const label = schemaName ?? "(none)";
    const ordinal = (bySchema[label] = (bySchema[label] ?? 0) + 1);
    const fault = faults.take(({ schema }) => schema === undefined || schema === schemaName);
    const entry = { ordinal, schema: schemaName ?? null, model: request.model, outcome: fault?.fault ?? "answered" };
    log.push(entry);
    milestones.reach("request");

    if (fault?.fault === "slow") await faults.hold(fault.ms);
    if (fault?.fault === "hang") await faults.hold();
    switch (fault?.fault) {
      case "status":
        return chatError(exchange, fault.status, "an injected fault", fault.retry_after_seconds);
      case "invalid_answer":
        return chatAnswer(exchange, request, JSON.stringify(["no object schema accepts a list"]));
      case "not_json":
        return chatAnswer(exchange, request, "I would rather talk about the weather.");
      case "slow":
      case "hang":
      case undefined: {
        const answer = playScript(options.script, { schemaName, ...promptOf(request), model: request.model, ordinal });
        if ("content" in answer) return chatAnswer(exchange, request, answer.content);
        entry.outcome = "script_failed";
        return chatError(exchange, 400, answer.failure);
      }
      default:
        return fault satisfies never;
    }
  };

  const server = await listenHttp(options.port ?? 0, async (exchange) => {
    const requests = (): ModelRequests => ({ requests: milestones.count("request"), by_schema: bySchema, log });
    if (await serveControl(exchange, { faults, faultSchema: ModelFault, milestones, reads: { requests } })) return;
    if (exchange.method === "POST" && exchange.path === "/v1/chat/completions") return complete(exchange);
    chatError(
      exchange,
      404,
      `no route ${exchange.method} ${exchange.path}: this server knows POST /v1/chat/completions`,
    );
  });
  return {
    url: server.url,
    close: () => {
      faults.abandon();
      return server.close();
    },
  };
}

/** @throws Error where the module has no function as its default export. */
export async function loadModelScript(modulePath: string): Promise<ModelScript> {
  const loaded = (await import(pathToFileURL(modulePath).href)) as { readonly default?: unknown };
  if (typeof loaded.default === "function") return loaded.default as ModelScript; // a function's parameters cannot be checked
  throw new Error(`expected ${modulePath} to export a script function by default, found ${typeof loaded.default}.`);
}

function playScript(
  script: ModelScript,
  request: ModelScriptRequest,
): { readonly content: string } | { readonly failure: string } {
  try {
    const answer = script(request);
    return { content: typeof answer === "string" ? answer : JSON.stringify(answer) };
  } catch (fault) {
    return { failure: `the script has no answer: ${fault instanceof Error ? fault.message : String(fault)}` };
  }
}

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

if (isProgram(import.meta.url)) {
  await runAsProgram("model", async ({ port, script }) =>
    startModelServer({
      port,
      script: await loadModelScript(script ?? siblingModule(import.meta.url, "refund-model-script")),
    }),
  );
}
