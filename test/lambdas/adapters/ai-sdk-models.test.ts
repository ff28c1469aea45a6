import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { controlClient, type ControlClient } from "../../../infra/local/downstreams/control-client.ts";
import type { RunningDownstream } from "../../../infra/local/downstreams/downstream-program.ts";
import {
  ModelRequests,
  startModelServer,
  type ModelScriptRequest,
} from "../../../infra/local/downstreams/model-server.ts";
import { aiSdkModels } from "../../../lambdas/adapters/ai-sdk-models.ts";
import { readModelSettings } from "../../../lambdas/env.ts";
import { classifyError } from "../../../shared/faults/classify.ts";
import type { ModelPort } from "../../../shared/model/model-port.ts";

let server: RunningDownstream;
let control: ControlClient;
let models: ModelPort;
let asked: ModelScriptRequest[];
let answer: () => unknown;

beforeEach(async () => {
  asked = [];
  answer = () => ({ amountCents: 4_200, reason: "duplicate" });
  server = await startModelServer({
    script: (request) => {
      asked.push(request);
      return answer();
    },
  });
  control = controlClient(server.url);
  models = aiSdkModels(
    readModelSettings({
      SUREFOOT_MODEL_PROVIDER: "openai-compatible",
      SUREFOOT_MODEL_BASE_URL: `${server.url}/v1`,
      SUREFOOT_MODELS: '{"default":"small","careful":"large"}',
    }),
  );
});
afterEach(() => server.close());

const Draft = z.object({ amountCents: z.number().int().positive(), reason: z.enum(["duplicate", "fraudulent"]) });
const ask = (over: { signal?: AbortSignal; model?: string } = {}) =>
  models.answer({
    model: "default",
    name: "draft",
    instructions: "Draft a refund.",
    data: '{"order":"ORD-1"}',
    output: Draft,
    outputTokensMax: 500,
    signal: AbortSignal.timeout(20_000),
    ...over,
  });
const requests = async () => ModelRequests.parse(await control.get("requests"));
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => Promise.reject(new Error(`expected a failure, found ${JSON.stringify(value)}`)),
    (error: unknown) => error,
  );

describe("an answer", () => {
  test("is asked for once, by the node's name, with its instructions apart from its data, and fits its schema", async () => {
    const { output, usage } = await ask();

    expect(output).toEqual({ amountCents: 4_200, reason: "duplicate" });
    expect(usage.input_tokens).toBeGreaterThan(0);
    expect(usage.output_tokens).toBeGreaterThan(0);
    expect(asked).toEqual([
      { schemaName: "draft", system: "Draft a refund.", user: '{"order":"ORD-1"}', model: "small", ordinal: 1 },
    ]);
  });

  test("comes from the model that the policy gives the name", async () => {
    await ask({ model: "careful" });
    await ask({ model: "of another name" });

    expect(asked.map(({ model }) => model)).toEqual(["large", "small"]);
  });
});

describe("one request, whatever comes back", () => {
  test.each([
    [429, "retryable"],
    [503, "retryable"],
    [500, "unknown"],
    [529, "unknown"],
    [400, "final"],
    [401, "final"],
  ])("status %i is %s", async (status, failureClass) => {
    await control.post("faults", { fault: "status", status, times: 9 });
    const error = await failureOf(ask());

    expect(classifyError(error)).toMatchObject({ failureClass, code: `http_${status}`, httpStatus: status });
    expect((await requests()).requests).toBe(1);
  });

  test("a server's retry-after reaches the classification", async () => {
    await control.post("faults", { fault: "status", status: 429, retry_after_seconds: 17 });

    expect(classifyError(await failureOf(ask()))).toMatchObject({ failureClass: "retryable", retryAfterMs: 17_000 });
  });

  test.each(["invalid_answer", "not_json"])("%s is an invalid answer that may be asked for again", async (fault) => {
    await control.post("faults", { fault, times: 9 });
    const error = await failureOf(ask());

    expect(error).toMatchObject({ name: "SurefootFault", code: "model_invalid_answer", failureClass: "retryable" });
    expect((error as Error).message).toMatch(/^the model of draft gave an answer that does not fit the node's schema/);
    expect((await requests()).requests).toBe(1);
  });

  test.each([
    ["a value outside the schema", { amountCents: -1, reason: "duplicate" }],
    ["a missing field", { amountCents: 1 }],
    ["nothing", ""],
    ["half of it", '{"amountCents": 42'],
  ])("%s is an invalid answer, and its words stay out of the message", async (_what, given) => {
    answer = () => given;
    const error = await failureOf(ask());

    expect(error).toMatchObject({ code: "model_invalid_answer", failureClass: "retryable" });
    expect((error as Error).message).not.toContain("amountCents");
    expect((await requests()).requests).toBe(1);
  });

  test("nobody at the address is known not to have been asked", async () => {
    await server.close();

    expect(classifyError(await failureOf(ask()))).toMatchObject({ failureClass: "retryable", code: "econnrefused" });
  });

  test("an abort ends the request, and no other one follows", async () => {
    await control.post("faults", { fault: "hang", times: 9 });
    const abort = new AbortController();
    const hanging = failureOf(ask({ signal: abort.signal }));
    await control.get("wait?for=request&count=1");
    abort.abort();

    expect(await hanging).toMatchObject({ name: "AbortError" });
    expect((await requests()).requests).toBe(1);
  });

  test("a signal that was aborted before sends nothing", async () => {
    await failureOf(ask({ signal: AbortSignal.abort() }));

    expect((await requests()).requests).toBe(0);
  });
});
