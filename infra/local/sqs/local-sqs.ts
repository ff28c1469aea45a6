import { buildApp } from "fauxqs";
import { createQueues } from "./create-queues.ts";
import type { QueueSchema } from "./queue-schema.ts";
import { toFauxqsUrls, toLocalUrls } from "./queue-url.ts";

export interface LocalSqsOptions {
  readonly queues: readonly QueueSchema[];
  /** @default a free one */
  readonly port?: number;
}

export interface LocalSqs {
  readonly endpoint: string;
  /** Of a queue or a dead letter queue. @throws Error where no schema names it. */
  urlOf(name: string): string;
  /** Open long polls are answered empty; messages are forgotten. */
  stop(): Promise<void>;
}

/**
 * SQS on 127.0.0.1, by fauxqs, in this process and in memory: after a restart every queue is empty, as if all messages had been lost, so
 * whoever sends must be able to send again. Two differences from SQS to know: a receive hands out one message of a group (SQS may hand
 * out several, in order), and deleting with a lapsed receipt handle is a silent nothing (SQS refuses it for FIFO).
 * @throws Error where the port is taken or SQS would not take a schema.
 */
export async function startLocalSqs({ queues, port = 0 }: LocalSqsOptions): Promise<LocalSqs> {
  const app = buildApp({ logger: false }); // its own start helper would listen on every address
  app.addHook("preHandler", async (request) => toFauxqsUrls(request.body));
  app.addHook("preSerialization", async (_request, _reply, payload) => toLocalUrls(payload));
  const endpoint = await app.listen({ host: "127.0.0.1", port });
  const stop = async () => {
    await app.close();
  };
  try {
    const urls = await createQueues(endpoint, queues);
    return { endpoint, urlOf: (name) => urlOf(urls, name), stop };
  } catch (fault) {
    await stop();
    throw fault;
  }
}

function urlOf(urls: ReadonlyMap<string, string>, name: string): string {
  const url = urls.get(name);
  if (url !== undefined) return url;
  throw new Error(
    `expected one of the queues ${[...urls.keys()].join(", ")}, found ${name}: name it in a schema given to startLocalSqs`,
  );
}
