import { z } from "zod";
import { CliError } from "./cli-error.ts";
import { signRequest } from "./sign-request.ts";
import { readRunnerFile } from "./runner-file.ts";

/** Longest an API call may take: API Gateway's own limit. */
const requestTimeoutMs = 30_000;

/** Ours; the gateway before it says only `message`. */
const ErrorBody = z.looseObject({ error: z.object({ code: z.string(), message: z.string() }) });
const GatewayBody = z.object({ message: z.string() });

/** Statuses that say that the request itself is wrong. */
const wrongRequest: readonly number[] = [400, 404, 413, 422];

/** The HTTP API of a runner or a deployed stack. */
export interface ApiClient {
  readonly url: string;
  get(path: string): Promise<unknown>;
  /** @returns status and body for the statuses in `accept`. */
  post(
    path: string,
    body: unknown,
    accept?: readonly number[],
  ): Promise<{ readonly status: number; readonly body: unknown }>;
}

/** @throws CliError 3 when nobody said where the API is. */
export function findApi({ api, folder }: { readonly api?: string | undefined; readonly folder: string }): ApiClient {
  const url = api || readRunnerFile(folder)?.url;
  if (url !== undefined) return apiClient(url);
  throw new CliError(
    3,
    "no_api",
    `no runner has been started in ${folder}: start one with surefoot serve, or say where the API is with --api <url>`,
  );
}

/** @throws CliError 2 for an address that is none. */
export function apiClient(url: string): ApiClient {
  if (!/^https?:\/\//u.test(url) || !URL.canParse(url)) {
    throw new CliError(2, "bad_api", `--api: expected an address like http://127.0.0.1:4310, found "${url}"`);
  }
  const base = url.replace(/\/+$/u, "");
  const call = async (method: string, path: string, body?: unknown) => {
    const request = await signRequest(
      new Request(base + path, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
      }),
    );
    let response: Response;
    try {
      response = await fetch(request, { signal: AbortSignal.timeout(requestTimeoutMs) });
    } catch (cause) {
      throw new CliError(
        3,
        "unreachable",
        `nobody answers at ${base} (${reasonOf(cause)}): is the runner still running? surefoot serve starts it, and open runs go on`,
      );
    }
    const text = await response.text();
    return { status: response.status, body: jsonOf(text, base) };
  };
  return {
    url: base,
    async get(path) {
      const { status, body } = await call("GET", path);
      if (status !== 200) throw refusal(status, body);
      return body;
    },
    async post(path, body, accept = [200, 201]) {
      const answer = await call("POST", path, body);
      if (!accept.includes(answer.status)) throw refusal(answer.status, answer.body);
      return answer;
    },
  };
}

function refusal(status: number, body: unknown): CliError {
  const exitCode = wrongRequest.includes(status) ? 2 : 1;
  const ours = ErrorBody.safeParse(body);
  if (ours.success) {
    const { error, ...details } = ours.data;
    return new CliError(exitCode, error.code, error.message, details);
  }
  const said = GatewayBody.safeParse(body).data?.message;
  return new CliError(
    exitCode,
    `http_${status}`,
    `the API answered ${status}${said === undefined ? "" : ` (${said})`}: ${hintFor(status)}`,
  );
}

function hintFor(status: number): string {
  if (status === 401 || status === 403)
    return "may your AWS credentials call it? They sign each request, unless SUREFOOT_TOKEN is set";
  if (status === 404) return "is it Surefoot's API?";
  return status >= 500 ? "try again, then look at the function's log" : "see surefoot --help";
}

function jsonOf(text: string, base: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(1, "not_surefoot", `${base} does not answer in JSON: is it Surefoot's API?`);
  }
}

const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
};
