import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, NoObjectGeneratedError, Output } from "ai";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { controlClient, type ControlClient } from "../../../../infra/local/downstreams/control-client.ts";
import type { RunningDownstream } from "../../../../infra/local/downstreams/downstream-program.ts";
import {
  ModelRequests,
  startModelServer,
  type ModelScriptRequest,
} from "../../../../infra/local/downstreams/model-server.ts";
import refundModelScript from "../../../../infra/local/downstreams/refund-model-script.ts";

const Plan = z.object({ summary: z.string(), steps: z.array(z.string()) });
const SEEN = { input: { orderId: "ORD-1", requestedAmountCents: 4_200, reason: "charged twice" } };

let server: RunningDownstream;
let control: ControlClient;

beforeEach(async () => {
  server = await startModelServer({ script: refundModelScript });
  control = controlClient(server.url);
});
afterEach(() => server.close());

const requests = async () => ModelRequests.parse(await control.get("requests"));
const ask = (name: string, schema: z.ZodType = Plan, seen: unknown = SEEN, abortSignal?: AbortSignal) =>
  generateText({
    model: createOpenAICompatible({
      name: "local",
      baseURL: `${server.url}/v1`,
      supportsStructuredOutputs: true,
    }).chatModel("refund-model-1"),
    system: "Answer with JSON.",
    prompt: JSON.stringify(seen),
    output: Output.object({ schema, name }),
    maxRetries: 0,
    ...(abortSignal === undefined ? {} : { abortSignal }),
  });

test("an answer fits the asked schema, and comes with usage and the model's name", async () => {
  const answer = await ask("plan");

  expect(answer.output).toMatchObject({ summary: "Refund order ORD-1" });
  expect(answer.response.modelId).toBe("refund-model-1");
  expect(answer.usage.inputTokens).toBeGreaterThan(0);
  expect(answer.usage.outputTokens).toBeGreaterThan(0);
});

test("requests are counted by schema, and logged in order with their outcome", async () => {
  await control.post("faults", { fault: "status", status: 500, schema: "draft" });
  await ask("plan");
  await expect(ask("draft")).rejects.toThrow();
  await ask("plan");

  const model = "refund-model-1";
  expect(await requests()).toEqual({
    requests: 3,
    by_schema: { plan: 2, draft: 1 },
    log: [
      { ordinal: 1, schema: "plan", model, outcome: "answered" },
      { ordinal: 1, schema: "draft", model, outcome: "status" },
      { ordinal: 2, schema: "plan", model, outcome: "answered" },
    ],
  });
});

test("a script sees schema name, prompts, model and how often it was asked", async () => {
  const seen: ModelScriptRequest[] = [];
  const scripted = await startModelServer({
    script: (request) => {
      seen.push(request);
      return request.schemaName === undefined ? "plain words" : { steps: [], summary: "" };
    },
  });
  const body = {
    model: "m",
    messages: [
      { role: "system", content: "S" },
      { role: "user", content: "U" },
    ],
  };
  const response = await fetch(`${scripted.url}/v1/chat/completions`, { method: "POST", body: JSON.stringify(body) });

  expect(await response.json()).toMatchObject({ choices: [{ message: { content: "plain words" } }] });
  expect(seen).toEqual([{ schemaName: undefined, system: "S", user: "U", model: "m", ordinal: 1 }]);
  await scripted.close();
});

test("a request that streams, or one the script does not know, is a 400 that says so", async () => {
  const body = { model: "m", stream: true, messages: [{ role: "user", content: "U" }] };
  const streaming = await fetch(`${server.url}/v1/chat/completions`, { method: "POST", body: JSON.stringify(body) });
  expect([streaming.status, await streaming.text()]).toEqual([400, expect.stringContaining("without stream")]);

  await expect(ask("poem")).rejects.toMatchObject({
    statusCode: 400,
    message: expect.stringMatching(/poem/) as string,
  });
});

describe("faults", () => {
  test("status: the code and its retry-after reach the client", async () => {
    await control.post("faults", { fault: "status", status: 429, retry_after_seconds: 3 });

    await expect(ask("plan")).rejects.toMatchObject({ statusCode: 429, responseHeaders: { "retry-after": "3" } });
    await ask("plan");
  });

  test.each(["invalid_answer", "not_json"])("%s: the client finds no object in the answer", async (fault) => {
    await control.post("faults", { fault, times: 1, schema: "plan" });

    const broken = await ask("plan").then(
      ({ output }) => output,
      (thrown: unknown) => thrown,
    );
    expect(NoObjectGeneratedError.isInstance(broken)).toBe(true);
    expect((await ask("plan")).output).toMatchObject({ summary: "Refund order ORD-1" });
  });

  test.each(["slow", "hang"])("%s: no answer until the faults are cleared", async (fault) => {
    await control.post("faults", { fault });
    const held = ask("plan");
    await control.get("wait?for=request&count=1");

    expect(await control.get("faults")).toEqual({ waiting: [], held: 1 });
    await control.delete("faults");
    expect((await held).output).toMatchObject({ summary: "Refund order ORD-1" });
  });

  test("a client that hangs up on a hanging model ends only its own request", async () => {
    await control.post("faults", { fault: "hang" });
    const hangUp = new AbortController();
    const held = ask("plan", Plan, SEEN, hangUp.signal);
    await control.get("wait?for=request&count=1");
    hangUp.abort();

    await expect(held).rejects.toThrow();
    await ask("plan");
  });
});

describe("the refund agent's script", () => {
  const Draft = z.object({ amountCents: z.int(), reason: z.string(), explanation: z.string() });
  const Summary = z.object({ summary: z.string(), customerMessage: z.string() });

  test("draft takes the requested amount and one of Stripe's reasons", async () => {
    expect((await ask("draft", Draft)).output).toEqual({
      amountCents: 4_200,
      reason: "duplicate",
      explanation: "$42.00 for order ORD-1, duplicate.",
    });
  });

  test("draft falls back to what the order cost", async () => {
    const seen = { input: { orderId: "ORD-1" }, order: { amountCents: 900 } };
    expect((await ask("draft", Draft, seen)).output).toMatchObject({
      amountCents: 900,
      reason: "requested_by_customer",
    });
  });

  test("finalize names the refund where there is one", async () => {
    const seen = { ...SEEN, draft: { amountCents: 4_200 }, refund: { id: "re_1" } };
    expect((await ask("finalize", Summary, seen)).output).toEqual({
      summary: "Refunded order ORD-1 of $42.00 (reference re_1).",
      customerMessage: "Your refund of $42.00 for order ORD-1 is on its way (reference re_1).",
    });
  });
});
