import { Agent, createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request on its way to DynamoDB. */
export interface DynamoRequest {
  /** `PutItem`, `UpdateItem`, `GetItem`, `Query`, … */
  readonly operation: string;
  readonly table: string;
  /** As it travels, with DynamoDB's typed attributes. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The item of a put, or the key of anything else, as plain values. */
  readonly item: Readonly<Record<string, unknown>>;
  /** The expression's values (`:status`, …), as plain values. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The application id that the sender's SDK was given (`AWS_SDK_UA_APP_ID`): tells processes apart. */
  readonly sender: string | undefined;
}

/** What happens to a matched request. Without members it just passes. */
export interface ProxyAction {
  /** Awaited before the request goes on. */
  readonly before?: (request: DynamoRequest) => void | Promise<void>;
  /** Whether DynamoDB gets it at all. Default true. */
  readonly forward?: boolean;
  /** Awaited once DynamoDB has answered, before anybody learns of it. */
  readonly after?: (request: DynamoRequest) => void | Promise<void>;
  /** `lose` breaks the connection in place of an answer, `never` leaves the caller waiting. Default `pass`. */
  readonly answer?: "pass" | "lose" | "never";
}

/** The write lands and its acknowledgement is lost. */
export const loseAcknowledgement: ProxyAction = { answer: "lose" };
/** DynamoDB cannot be reached. */
export const refuse: ProxyAction = { forward: false, answer: "lose" };
/** The write lands and nobody ever hears of it. */
export const neverAnswer: ProxyAction = { answer: "never" };

export type Matcher = (request: DynamoRequest) => boolean;

export interface DynamoProxy {
  readonly endpoint: string;
  /** Everything that came by, in order. */
  readonly requests: readonly DynamoRequest[];
  /** Applies `action` to the next `times` requests that match (default 1). The first rule that matches wins. @returns how often it did so far. */
  on(matcher: Matcher, action: ProxyAction, times?: number): () => number;
  stop(): Promise<void>;
}

/**
 * Stands between an unmodified AWS SDK and a DynamoDB endpoint, and loses, holds or observes what passes. Any other service of AWS's JSON
 * protocol will do too; its requests have an `operation` and a `body`, and no table or item.
 */
export async function startDynamoProxy({ target }: { readonly target: string }): Promise<DynamoProxy> {
  const rules: { matcher: Matcher; action: ProxyAction; left: number; used: number }[] = [];
  const requests: DynamoRequest[] = [];
  const agent = new Agent({ keepAlive: true });

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const text = await textOf(incoming);
    const seen = parse(incoming, text);
    requests.push(seen);
    const rule = rules.find(({ matcher, left }) => left > 0 && matcher(seen));
    if (rule) {
      rule.left--;
      rule.used++;
    }
    const { before, forward = true, after, answer = "pass" } = rule?.action ?? {};
    await before?.(seen);
    const reply = forward ? await send(target, agent, incoming, text) : undefined;
    await after?.(seen);
    if (answer === "never") return;
    if (answer === "lose" || !reply) {
      incoming.socket.destroy();
      return;
    }
    outgoing.writeHead(reply.status, reply.headers).end(reply.text);
  }

  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // a TCP server's address is never a pipe name
    requests,
    on(matcher, action, times = 1) {
      const rule = { matcher, action, left: times, used: 0 };
      rules.push(rule);
      return () => rule.used;
    },
    async stop() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A put or update, the two ways in which anything becomes durable. */
export const isWrite: Matcher = ({ operation }) => operation === "PutItem" || operation === "UpdateItem";

interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

function send(target: string, agent: Agent, { method, url, headers }: IncomingMessage, text: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(target);
    const onward = httpRequest({ agent, hostname, port, method, path: url, headers }, (answer) => {
      textOf(answer).then(
        (body) => resolve({ status: answer.statusCode ?? 500, headers: answer.headers, text: body }),
        reject,
      );
    });
    onward.once("error", reject).end(text);
  });
}

async function textOf(stream: IncomingMessage): Promise<string> {
  stream.setEncoding("utf8");
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  return text;
}

function parse(incoming: IncomingMessage, text: string): DynamoRequest {
  const body = JSON.parse(text) as Readonly<Record<string, unknown>>;
  return {
    operation: String(incoming.headers["x-amz-target"]).split(".").at(-1) ?? "",
    table: String(body["TableName"]),
    body,
    item: plainMap(body["Item"] ?? body["Key"]),
    values: plainMap(body["ExpressionAttributeValues"]),
    sender: /(?:^|\s)app\/(\S+)/u.exec(incoming.headers["user-agent"] ?? "")?.[1],
  };
}

type Attribute = Readonly<Record<string, unknown>>;

const plainMap = (attributes: unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries((attributes ?? {}) as Attribute).map(([key, value]) => [key, plain(value)]));

/** The value inside DynamoDB's `{ "S": "text" }`; of the types that this package stores. */
function plain(attribute: unknown): unknown {
  const [type, value] = Object.entries(attribute as Attribute)[0] ?? [];
  if (type === "N") return Number(value);
  if (type === "NULL") return null;
  if (type === "M") return plainMap(value);
  if (type === "L") return (value as readonly unknown[]).map(plain);
  return value;
}
