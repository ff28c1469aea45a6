import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";

export const region = "us-east-1";
export const account = "000000000000";
/** The account's root, which may do everything. The functions have credentials of their roles instead. */
export const credentials = { accessKeyId: "test", secretAccessKey: "test" } as const;

/** Python reads botocore's models when it starts: seconds, and many where others load the machine. */
const readyMsMax = 120_000;
const linesKept = 200;

/** An AWS that is checked like AWS: TLS, signatures, and every call held against the caller's policies. */
export interface Emulator {
  readonly port: number;
  readonly endpoint: string;
  readonly certificate: { readonly file: string; readonly pem: string };
  /** Everything that the emulator, CDK and their children write; removed by `stop`. */
  readonly folder: string;
  /** What it printed last, the functions' output included. */
  lastLines(): string;
  /** Ends it and every function process. */
  stop(): Promise<void>;
}

export async function startEmulator(python: string): Promise<Emulator> {
  const folder = mkdtempSync(join(tmpdir(), "surefoot-deploy-"));
  const port = await freePort();
  const child = spawn(python, [join(import.meta.dirname, "emulator.py")], {
    // Nothing else: the functions inherit all of it.
    env: {
      PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
      HOME: folder,
      TMPDIR: folder,
      BIND_HOST: "127.0.0.1",
      GATEWAY_PORT: String(port),
      USE_SSL: "1",
      AUTH: "true",
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      MINISTACK_REGION: region,
    },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const lines: string[] = [];
  const exited = once(child, "close");
  const stop = async () => {
    child.stdin.end(); // it then kills its whole process group
    await exited;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  try {
    await ready(child, port, lines);
    const file = join(folder, "ministack-tls/server.crt");
    return {
      port,
      endpoint: `https://127.0.0.1:${port}`,
      certificate: { file, pem: readFileSync(file, "utf8") },
      folder,
      lastLines: () => lines.join("\n"),
      stop,
    };
  } catch (fault) {
    await stop();
    throw fault;
  }
}

function ready(child: ChildProcess, port: number, lines: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (what: string) =>
      reject(new Error(`expected an emulator on port ${port}, but it ${what}. It said last:\n${lines.join("\n")}`));
    const silence = setTimeout(() => fail(`was not ready after ${readyMsMax} ms`), readyMsMax);
    const settled = () => clearTimeout(silence);
    child.once("error", (error) => (settled(), fail(`could not be started (${error.message})`)));
    child.once("exit", (code) => (settled(), fail(`ended (code ${code})`)));
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on("line", (line) => {
        lines.push(line);
        if (lines.length > linesKept) lines.shift();
        if (line.includes(`Running on https://127.0.0.1:${port}`)) {
          settled();
          resolve();
        }
      });
    }
  });
}

/** Free a moment ago; the emulator takes a number only, and says so when somebody was quicker. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on TCP
  server.close();
  await once(server, "close");
  return port;
}
