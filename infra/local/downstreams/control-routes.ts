import { z } from "zod";
import type { FaultQueue } from "./fault-queue.ts";
import type { Exchange } from "./http-server.ts";
import type { Milestones } from "./milestones.ts";

export const CONTROL_PREFIX = "/_surefoot/";

/** Longest a waiting caller is kept; below the five minutes after which fetch gives up on headers. */
const WAIT_TIMEOUT_MS_MAX = 120_000;
const WAIT_TIMEOUT_MS_DEFAULT = 10_000;

export interface ControlRoutes<Fault extends { readonly times: number }> {
  readonly faults: FaultQueue<Fault>;
  readonly faultSchema: z.ZodType<Fault>;
  readonly milestones: Milestones<string>;
  /** Extra `GET <name>` routes: what the server counted. */
  readonly reads: Readonly<Record<string, () => unknown>>;
  /** Extra `POST <name>` routes; the body is parsed JSON, a zod error becomes a 400. */
  readonly writes?: Readonly<Record<string, (body: unknown) => unknown>>;
}

/** Serves everything under `/_surefoot/`: `POST | GET | DELETE faults`, `GET wait`, and the server's own routes.
 *  Returns false where the request is not a control request. */
export async function serveControl<Fault extends { readonly times: number }>(
  exchange: Exchange,
  routes: ControlRoutes<Fault>,
): Promise<boolean> {
  if (!exchange.path.startsWith(CONTROL_PREFIX)) return false;
  const name = exchange.path.slice(CONTROL_PREFIX.length);
  try {
    await route(exchange, name, routes);
  } catch (fault) {
    if (!(fault instanceof z.ZodError || fault instanceof SyntaxError)) throw fault;
    const detail = fault instanceof z.ZodError ? z.prettifyError(fault) : fault.message;
    refuse(exchange, 400, `${exchange.method} ${name} does not accept this: ${detail}. Nothing was changed.`);
  }
  return true;
}

async function route<Fault extends { readonly times: number }>(
  exchange: Exchange,
  name: string,
  routes: ControlRoutes<Fault>,
): Promise<void> {
  const { faults } = routes;
  const reads: ControlRoutes<Fault>["reads"] = {
    ...routes.reads,
    faults: () => ({ waiting: faults.waiting(), held: faults.held }),
  };
  const writes: Readonly<Record<string, (body: unknown) => unknown>> = {
    ...routes.writes,
    faults: (body) => {
      faults.add(routes.faultSchema.parse(body));
      return { waiting: faults.waiting() };
    },
  };
  const read = Object.hasOwn(reads, name) ? reads[name] : undefined;
  const write = Object.hasOwn(writes, name) ? writes[name] : undefined;

  if (exchange.method === "GET" && name === "wait") return serveWait(exchange, routes.milestones);
  if (exchange.method === "GET" && read !== undefined) return exchange.answer(200, read());
  if (exchange.method === "POST" && write !== undefined) {
    return exchange.answer(200, write(JSON.parse(exchange.body || "{}")));
  }
  if (exchange.method === "DELETE" && name === "faults") {
    const released = faults.held;
    faults.clear();
    return exchange.answer(200, { released });
  }
  const known = [
    ...Object.keys(reads).map((key) => `GET ${key}`),
    ...Object.keys(writes).map((key) => `POST ${key}`),
    "DELETE faults",
    "GET wait",
  ];
  refuse(exchange, 404, `no control route ${exchange.method} ${name}. There are: ${known.join(", ")}.`);
}

async function serveWait(exchange: Exchange, milestones: Milestones<string>): Promise<void> {
  const asked = z
    .object({
      for: z.enum(milestones.names),
      count: z.coerce.number().int().positive().default(1),
      timeout_ms: z.coerce.number().int().positive().max(WAIT_TIMEOUT_MS_MAX).default(WAIT_TIMEOUT_MS_DEFAULT),
    })
    .parse(Object.fromEntries(exchange.query));
  const reached = await milestones.wait(asked.for, asked.count, asked.timeout_ms);
  const count = milestones.count(asked.for);
  if (reached) return exchange.answer(200, { for: asked.for, count });
  const message = `waited ${asked.timeout_ms} ms for ${asked.count} × ${asked.for}, but only ${count} came.`;
  refuse(exchange, 408, message, { for: asked.for, count });
}

function refuse(exchange: Exchange, status: number, message: string, facts: object = {}): void {
  exchange.answer(status, { error: { type: "control_error", message, ...facts } });
}
