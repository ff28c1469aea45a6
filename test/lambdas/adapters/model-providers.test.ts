import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Exchange, type HttpServer, listenHttp } from "../../../infra/local/downstreams/http-server.ts";
import { aiSdkModels } from "../../../lambdas/adapters/ai-sdk-models.ts";
import { Draft } from "../../../lambdas/agents/refund-agent/schemas.ts";
import { readModelSettings } from "../../../lambdas/env.ts";
import { classifyError } from "../../../shared/faults/classify.ts";

let stub: HttpServer;
let requests: Exchange[];
let answer: (exchange: Exchange) => void;

beforeEach(async () => {
  requests = [];
  stub = await listenHttp(0, async (exchange) => {
    requests.push(exchange);
    answer(exchange);
  });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await stub.close();
});

const drafted = '{"amountCents":4200,"reason":"duplicate","explanation":"Paid twice."}';

/** The two providers as they answer over HTTP, each by its own protocol. */
const providers = [
  {
    provider: "bedrock",
    environment: () => ({ SUREFOOT_MODEL_BASE_URL: stub.url }),
    path: "/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/converse",
    success: {
      output: { message: { role: "assistant", content: [{ text: drafted }] } },
      stopReason: "end_turn",
      usage: { inputTokens: 100, outputTokens: 20, totalTokens: 120 },
      metrics: { latencyMs: 1 },
    },
  },
  {
    provider: "anthropic",
    environment: () => ({
      SUREFOOT_MODEL_PROVIDER: "anthropic",
      SUREFOOT_MODEL_BASE_URL: `${stub.url}/v1`,
      SUREFOOT_MODEL_API_KEY: "fake",
      SUREFOOT_MODELS: "claude-sonnet-4-5",
    }),
    path: "/v1/messages",
    success: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-5",
      content: [{ type: "text", text: drafted }],
      stop_reason: "end_turn",
      usage: { input_tokens: 100, output_tokens: 20 },
    },
  },
] as const;

describe.each(providers)("$provider", ({ environment, path, success }) => {
  const ask = () =>
    aiSdkModels(readModelSettings(environment())).answer({
      model: "default",
      name: "draft",
      instructions: "Draft a refund.",
      data: "{}",
      output: Draft,
      outputTokensMax: 500,
      signal: AbortSignal.timeout(20_000),
    });
  beforeEach(() => {
    vi.stubEnv("AWS_REGION", "us-east-1");
    vi.stubEnv("AWS_ACCESS_KEY_ID", "fake");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "fake");
    vi.stubEnv("AWS_BEARER_TOKEN_BEDROCK", undefined);
  });

  test("answers by the schema in one request that carries its limit of tokens", async () => {
    answer = (exchange) => exchange.answer(200, success);

    expect(await ask()).toEqual({
      output: { amountCents: 4_200, reason: "duplicate", explanation: "Paid twice." },
      usage: { input_tokens: 100, output_tokens: 20 },
    });
    expect(requests.map((request) => request.path)).toEqual([path]);
    expect(requests[0]?.body).toMatch(/"max_?[tT]okens":500/);
  });

  test("is sent no limit of numbers in the schema, which it would refuse; the answer is checked against it here", async () => {
    answer = (exchange) => exchange.answer(200, JSON.parse(JSON.stringify(success).replace("4200", "-1")));
    const error: unknown = await ask().catch((fault: unknown) => fault);

    expect(requests[0]?.body).toContain('"json_schema"');
    expect(requests[0]?.body).not.toContain('"exclusiveMinimum":');
    expect(error).toMatchObject({ code: "model_invalid_answer", failureClass: "retryable" });
  });

  test.each([
    [500, "unknown"],
    [429, "retryable"],
    [503, "retryable"],
    [403, "final"],
  ])("status %i is one request and %s", async (status, failureClass) => {
    answer = (exchange) =>
      exchange.answer(status, { message: "no", error: { type: "error", message: "no" } }, { "retry-after": "9" });
    const error: unknown = await ask().catch((fault: unknown) => fault);

    expect(classifyError(error)).toMatchObject({ failureClass, httpStatus: status, retryAfterMs: 9_000 });
    expect(requests).toHaveLength(1);
  });

  test("a cut connection is one request", async () => {
    answer = (exchange) => exchange.drop();

    await expect(ask()).rejects.toThrow();
    expect(requests).toHaveLength(1);
  });
});

test("Bedrock is asked with the function's own role, session token included", async () => {
  vi.stubEnv("AWS_REGION", "eu-west-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIAFAKE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "fake");
  vi.stubEnv("AWS_SESSION_TOKEN", "session");
  vi.stubEnv("AWS_BEARER_TOKEN_BEDROCK", undefined);
  answer = (exchange) => exchange.answer(200, providers[0].success);
  await aiSdkModels(readModelSettings({ SUREFOOT_MODEL_BASE_URL: stub.url })).answer({
    model: "default",
    name: "draft",
    instructions: "Draft a refund.",
    data: "{}",
    output: Draft,
    outputTokensMax: 500,
    signal: AbortSignal.timeout(20_000),
  });

  expect(requests[0]?.headers.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIAFAKE\/\d{8}\/eu-west-1\/bedrock/,
  );
  expect(requests[0]?.headers["x-amz-security-token"]).toBe("session");
});
