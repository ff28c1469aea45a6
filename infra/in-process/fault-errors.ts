import { InternalServerError, ThrottlingException } from "@aws-sdk/client-dynamodb";
import { ServiceException, TooManyRequestsException } from "@aws-sdk/client-lambda";
import type { PortName } from "./port-call.ts";

const answered = (status: number) => ({ $metadata: { httpStatusCode: status, attempts: 1, totalRetryDelay: 0 } });
const message = "injected by the drill";

/** The connection broke after the request had left: what Node's sockets say, and what every SDK passes on. */
export function lostAnswer(port: PortName): Error {
  const error = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", errno: -104, syscall: "read" });
  return port === "tool" || port === "model" ? error : Object.assign(error, answered(0));
}

/** It certainly did not arrive. */
export function notDone(port: PortName, status: number | undefined): Error {
  switch (port) {
    case "dynamo":
      return new InternalServerError({ message, ...answered(500) });
    case "lambda":
      return new ServiceException({ message, Message: message, ...answered(500) });
    case "sfn":
    case "queue":
    case "payloads":
      return Object.assign(new Error(message), { name: "InternalFailure", $fault: "server", ...answered(500) });
    case "tool":
    case "model":
      if (status !== undefined) return httpError(status);
      return Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED", syscall: "connect" });
    default:
      return port satisfies never;
  }
}

export function throttled(port: PortName, retryAfterSeconds: number | undefined): Error {
  switch (port) {
    case "dynamo":
      return new ThrottlingException({ message, ...answered(400) });
    case "lambda":
      return new TooManyRequestsException({ message, ...answered(429) });
    case "sfn":
    case "queue":
    case "payloads":
      return Object.assign(new Error(message), { name: "ThrottlingException", $fault: "client", ...answered(400) });
    case "tool":
    case "model":
      return httpError(429, retryAfterSeconds);
    default:
      return port satisfies never;
  }
}

/** What an HTTP client throws on a status: `status`, and `retry-after` among the headers where the server asked for patience. */
export const httpError = (status: number, retryAfterSeconds?: number): Error =>
  Object.assign(new Error(`the other side answered ${status}`), {
    status,
    headers: retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) },
  });
