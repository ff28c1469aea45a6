/** Runs in a function's own process: loads the bundle, then one invocation after the other. See `lambda-process.ts` for the other end. */
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { payloadBytesMax, responseSizeReported } from "./lambda-protocol.ts";
import type { FaultReport, InvokeMessage, ProcessMessage } from "./lambda-protocol.ts";

type Handler = (event: unknown, context: object) => unknown;

const [bundleFile = "", functionName = "", functionVersion = "", invokedFunctionArn = "", memoryLimitInMB = ""] =
  process.argv.slice(2);
/** Kept, so that a function which overwrites `process.send` still answers. */
const send = process.send?.bind(process);
const tell = (message: ProcessMessage) => send?.(message);

/** Reports and ends the process. On Lambda, whatever is thrown outside the handler's promise ends the running invocation like that. */
function endWith(fault: FaultReport, exitCode: number): void {
  console.error("Uncaught", JSON.stringify(fault));
  if (send) send({ kind: "lastWords", fault } satisfies ProcessMessage, undefined, {}, () => process.exit(exitCode));
  else process.exit(exitCode);
}

function describeFault(thrown: unknown): FaultReport {
  if (thrown instanceof Error) {
    return { errorType: thrown.name, errorMessage: thrown.message, trace: thrown.stack?.split("\n") ?? [] };
  }
  return { errorType: typeof thrown, errorMessage: String(thrown), trace: [] };
}

function serialize(result: unknown): string {
  try {
    // Undefined, functions and symbols have no JSON: a handler that returns nothing answers null.
    return JSON.stringify(result) ?? "null";
  } catch (cause) {
    throw new Error("Unable to stringify response body", { cause });
  }
}

async function answer(handler: Handler, invocation: InvokeMessage): Promise<ProcessMessage> {
  const { requestId, deadlineEpochMs } = invocation;
  const context = {
    awsRequestId: requestId,
    functionName,
    functionVersion,
    invokedFunctionArn,
    memoryLimitInMB,
    logGroupName: process.env["AWS_LAMBDA_LOG_GROUP_NAME"],
    logStreamName: process.env["AWS_LAMBDA_LOG_STREAM_NAME"],
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, deadlineEpochMs - Date.now()),
  };
  try {
    const payload = serialize(await handler(JSON.parse(invocation.event), context));
    if (Buffer.byteLength(payload) <= payloadBytesMax) return { kind: "success", requestId, payload };
    const errorMessage = `Response payload size exceeded maximum allowed payload size (${responseSizeReported} bytes).`;
    return { kind: "fault", requestId, fault: { errorType: "Function.ResponseSizeTooLarge", errorMessage, trace: [] } };
  } catch (thrown) {
    const fault = describeFault(thrown);
    console.error("Invoke Error", JSON.stringify(fault));
    return { kind: "fault", requestId, fault };
  }
}

/** A process that is busy in a loop never sees its parent go; a thread beside it does, and ends it. Nobody else would:
 *  the deadline's kill went with the parent. */
function watchParent(): void {
  const watch = `
    const { workerData: parent } = require("node:worker_threads");
    setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, "SIGKILL"); }, 500);`;
  new Worker(watch, { eval: true, workerData: process.ppid, env: {}, stdout: false, stderr: false }).unref();
}

process.once("disconnect", () => process.exit(1));
process.on("uncaughtException", (thrown) => endWith(describeFault(thrown), 129));
process.on("unhandledRejection", (reason) => {
  const { errorType, errorMessage, trace } = describeFault(reason);
  endWith(
    { errorType: "Runtime.UnhandledPromiseRejection", errorMessage: `${errorType}: ${errorMessage}`, trace },
    128,
  );
});

async function loadHandler(): Promise<Handler | FaultReport> {
  try {
    const { handler } = (await import(pathToFileURL(bundleFile).href)) as { handler?: unknown };
    if (typeof handler === "function") return handler as Handler; // its parameters are the event's business, as on Lambda
  } catch (thrown) {
    return describeFault(thrown);
  }
  const errorMessage = `index.handler is undefined or not exported: ${bundleFile} must export an async function named handler`;
  return { errorType: "Runtime.HandlerNotFound", errorMessage, trace: [] };
}

const handler = await loadHandler();
if (typeof handler === "function") {
  process.on("message", (message) => {
    void answer(handler, message as InvokeMessage).then(tell); // only the pool holds the other end
  });
  tell({ kind: "ready" });
  watchParent();
} else {
  endWith(handler, 1);
}
