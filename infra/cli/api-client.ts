import { z } from "zod";
import { CliError } from "./cli-error.ts";
import { readRunnerFile } from "./runner-file.ts";

/** Longest an API call may take: API Gateway's own limit. */
const requestTimeoutMs = 30_000;

const ErrorBody = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

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

/** @throws CliError 2 when nobody said where the API is. */
export function findApi(options: { readonly api?: string | undefined; readonly folder: string }): ApiClient {
  const url = options.api ?? process.env["SUREFOOT_API"] ?? readRunnerFile(options.folder)?.url;
  if (url === undefined) {
    throw new CliError(
      3,
      "no_api",
      `no runner has been started in ${options.folder}: run \`npm start\`, or say where the API is with --api <url>`,
    );
  }
  return apiClient(url);
}

export function apiClient(url: string): ApiClient {
  const base = url.replace(/\/$/u, "");
  const call = async (method: string, path: string, body?: unknown) => {
    let response: Response;
    try {
      response = await fetch(base + path, {
        method,
        signal: AbortSignal.timeout(requestTimeoutMs),
        ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
      });
    } catch (cause) {
      throw new CliError(
        3,
        "unreachable",
        `nobody answers at ${base}: is the runner still running? Start it with \`npm start\` (${reasonOf(cause)})`,
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
  const parsed = ErrorBody.safeParse(body);
  const { code, message } = parsed.data?.error ?? { code: `http_${status}`, message: `the API answered ${status}` };
  return new CliError(status === 400 || status === 404 || status === 413 ? 2 : 1, code, message);
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
