import { fork, type ChildProcess } from "node:child_process";
import { resolve as absolute } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { nodeScript } from "../lambda/node-script.ts";
import { createTables, type LocalTable } from "./create-tables.ts";
import type { DynaliteMessage } from "./dynalite-messages.ts";

/** Opening replays LevelDB's log, at most a few megabytes, and waits three seconds for a lock; past this it hangs. */
const readyMsMax = 30_000;

export interface LocalDynamoOptions {
  /** Folder of the database, created if missing. One runner at a time. */
  readonly path: string;
  /** @default a free one */
  readonly port?: number;
  /** Created where they do not exist. @default none */
  readonly tables?: readonly LocalTable[];
  /** The database ended although nobody stopped it; clients get connection errors from now on. @default nobody is told */
  readonly onCrash?: (why: string) => void;
}

export interface LocalDynamo {
  readonly endpoint: string;
  readonly port: number;
  /** Of the database's process. */
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * DynamoDB on disk, by dynalite, in a process of its own. In the runner's process every query would hold up its event loop, timers and deadlines
 * included. Nothing is lost to `kill -9` of either: LevelDB hands each write to the operating system before it is acknowledged, drops a half-written
 * last record when it opens, and locks the folder through the operating system, which forgets a dead process's lock. Loss of power is another
 * matter: nothing waits for the disk. dynalite writes an item's index entries before the item; where a kill came in between, the next start
 * puts the indexes right.
 * @throws Error where another runner has the folder, its database is damaged, the port is taken, or a table exists with other keys.
 */
export async function startLocalDynamo(options: LocalDynamoOptions): Promise<LocalDynamo> {
  const child = fork(
    nodeScript(import.meta.url, "dynalite-server"),
    [absolute(options.path), String(options.port ?? 0)],
    {
      env: { PATH: process.env["PATH"], AWS_REGION: "us-east-1" },
      execArgv: [], // an inherited one would start the test runner's or the debugger's loader
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    },
  );
  const lastWords = tailOf(child);
  const exit = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal ? `was ended by ${signal}` : `exited with status ${code}`));
    child.once("error", (fault) => resolve(`did not start: ${fault.message}`));
  });
  let stopped = false;
  const stop = async () => {
    stopped = true;
    child.kill("SIGKILL"); // as safe as any other end, and no connection can hold it up
    await exit;
  };

  try {
    const port = await readyPort(child, exit, lastWords);
    const endpoint = `http://127.0.0.1:${port}`;
    await withClient(endpoint, (client) => createTables(client, options.tables ?? []));
    void exit.then((how) => {
      if (!stopped) options.onCrash?.(`the local DynamoDB in ${options.path} ${how}. ${lastWords()}`);
    });
    return { endpoint, port, pid: child.pid ?? -1, stop };
  } catch (fault) {
    await stop();
    throw fault;
  }
}

async function readyPort(child: ChildProcess, exit: Promise<string>, lastWords: () => string): Promise<number> {
  let timer: NodeJS.Timeout | undefined;
  const message = new Promise<DynaliteMessage>((resolve) => {
    child.once("message", (raw) => resolve(raw as DynaliteMessage)); // our own script holds the other end
    timer = setTimeout(() => resolve({ kind: "failed", why: `said nothing within ${readyMsMax} ms` }), readyMsMax);
  });
  const ended = exit.then((how): DynaliteMessage => ({ kind: "failed", why: `${how}. ${lastWords()}` }));
  const first = await Promise.race([message, ended]).finally(() => clearTimeout(timer));
  if (first.kind === "ready") return first.port;
  throw new Error(`the local DynamoDB did not start: ${first.why}`);
}

async function withClient(endpoint: string, use: (client: DynamoDBClient) => Promise<void>): Promise<void> {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = new DynamoDBClient({ endpoint, region: "us-east-1", credentials });
  await use(client).finally(() => client.destroy());
}

/** Enough for a stack trace. */
const tailCharacters = 4_000;

function tailOf(child: ChildProcess): () => string {
  let tail = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    tail = (tail + text).slice(-tailCharacters);
  });
  return () => tail;
}
