import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { controlClient, type ControlClient } from "../../../infra/local/downstreams/control-client.ts";
import type { RunningDownstream } from "../../../infra/local/downstreams/downstream-program.ts";
import { PaymentsEffects, startPaymentsServer } from "../../../infra/local/downstreams/payments-server.ts";
import { createRefund, lookupOrder, lookupRefund, readOrder } from "../../../lambdas/agents/refund-agent/tools.ts";
import { classifyError } from "../../../shared/faults/classify.ts";

let server: RunningDownstream;
let control: ControlClient;

beforeEach(async () => {
  server = await startPaymentsServer();
  control = controlClient(server.url);
  vi.stubEnv("STRIPE_API_KEY", "sk_test_local");
  vi.stubEnv("STRIPE_API_BASE", server.url);
  vi.stubEnv("SMTP_URL", "smtp://127.0.0.1:1");
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server.close();
});

const operation = "c5a7394039e6198cb3d349d6f88e9b38";
const request = {
  paymentId: "pi_demo_2",
  orderId: "ORD-DEMO-2",
  amountCents: 6_000,
  reason: "requested_by_customer" as const,
};
const patience = () => AbortSignal.timeout(20_000);
const refund = (over: object = {}, idempotencyKey = operation, signal = patience()) =>
  createRefund.execute({ ...request, ...over }, { idempotencyKey, signal });
const effects = async () => PaymentsEffects.parse(await control.get("effects"));
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => Promise.reject(new Error(`expected a failure, found ${JSON.stringify(value)}`)),
    (error: unknown) => error,
  );

describe("a refund", () => {
  test("carries the operation id as its key, and where a lookup finds it", async () => {
    const made = await refund();

    expect(made).toEqual({ id: expect.stringMatching(/^re_/) as string, amountCents: 6_000, status: "succeeded" });
    expect(await effects()).toMatchObject({ refunds: 1, requests: 1, requests_by_key: { [operation]: 1 } });
    expect(createRefund.externalRef?.(made)).toBe(made.id);
    expect(await lookupRefund.execute({ refundId: made.id }, { signal: patience() })).toEqual(made);
  });

  test("with the same key again is the same refund", async () => {
    expect(await refund()).toEqual(await refund());
    expect(await effects()).toMatchObject({ refunds: 1, requests: 2 });
  });

  test("with another amount under the same key is refused for good", async () => {
    await refund();
    const error = await failureOf(refund({ amountCents: 5_999 }));

    expect(classifyError(error)).toMatchObject({ failureClass: "final", httpStatus: 400 });
    expect(await effects()).toMatchObject({ refunds: 1, amount_cents: 6_000 });
  });

  test("of more than is left is refused for good", async () => {
    const error = await failureOf(refund({ amountCents: 12_001 }));

    expect(classifyError(error)).toMatchObject({ failureClass: "final", httpStatus: 400 });
    expect(await effects()).toMatchObject({ refunds: 0, requests: 1 });
  });
});

describe("one request for one call, whatever comes back", () => {
  test.each([
    [{ fault: "drop_response" }, "unknown", 1],
    [{ fault: "drop_request" }, "unknown", 0],
    [{ fault: "status", status: 500 }, "unknown", 0],
    [{ fault: "status_after_commit", status: 500 }, "unknown", 1],
    [{ fault: "status", status: 502 }, "unknown", 0],
    [{ fault: "status", status: 409 }, "unknown", 0],
    [{ fault: "status", status: 429 }, "retryable", 0],
    [{ fault: "status", status: 503 }, "retryable", 0],
    [{ fault: "status", status: 402 }, "final", 0],
  ])("%o is %s", async (fault, failureClass, refunds) => {
    await control.post("faults", { ...fault, times: 9 });
    const error = await failureOf(refund());

    expect(classifyError(error)).toMatchObject({ failureClass });
    expect(await effects()).toMatchObject({ refunds, requests: 1 });
  });

  test("a server's retry-after reaches the classification", async () => {
    await control.post("faults", { fault: "status", status: 429, retry_after_seconds: 11 });

    expect(classifyError(await failureOf(refund()))).toMatchObject({ retryAfterMs: 11_000 });
  });

  test("nobody at the address is known not to have happened", async () => {
    await server.close();

    expect(classifyError(await failureOf(refund()))).toMatchObject({ failureClass: "retryable", code: "econnrefused" });
  });

  test("an abort ends the call while the other side is silent, and no other request follows", async () => {
    await control.post("faults", { fault: "hold_after_commit", times: 9 });
    const abort = new AbortController();
    const silent = failureOf(refund({}, operation, abort.signal));
    await control.get("wait?for=commit&count=1");
    abort.abort();

    expect(classifyError(await silent).failureClass).toBe("unknown");
    expect(await effects()).toMatchObject({ refunds: 1, requests: 1 });
  });

  test("a signal that was aborted before sends nothing", async () => {
    await failureOf(refund({}, operation, AbortSignal.abort()));

    expect((await effects()).requests).toBe(0);
  });

  test.each([
    [
      "the order",
      "GET /v1/payment_intents",
      () => lookupOrder.execute({ paymentId: "pi_demo_2" }, { signal: patience() }),
    ],
    ["the refund", "GET /v1/refunds", () => lookupRefund.execute({ refundId: "re_1" }, { signal: patience() })],
    ["the lookup", "GET /v1/refunds", () => lookup()],
  ])("a read of %s that fails is one request too", async (_what, route, call) => {
    await control.post("faults", { fault: "status", status: 500, route, times: 9 });
    await failureOf(call());

    const asked = Object.values((await effects()).requests_by_route).reduce((sum, count) => sum + count, 0);
    expect(asked).toBe(1);
  });
});

/** Whether the payments server has the operation, asked as the reconciler does. */
function lookup(id = operation): Promise<unknown> {
  if (createRefund.downstream.by !== "key" || !createRefund.downstream.lookup) throw new Error("it has a lookup");
  return createRefund.downstream.lookup(request, id, { signal: patience() });
}

describe("the lookup", () => {
  test("finds a refund whose answer was lost by its operation", async () => {
    await control.post("faults", { fault: "drop_response" });
    await failureOf(refund());

    expect(await lookup()).toEqual({
      found: { id: expect.stringMatching(/^re_/) as string, amountCents: 6_000, status: "succeeded" },
    });
  });

  test("takes another operation's refund of the same payment for another one", async () => {
    await refund({ amountCents: 1_000 }, "another-operation");

    expect(await lookup()).toBe("not_found");
  });

  test("cannot tell where the payment has more refunds than one page shows", async () => {
    await control.post("payments", { id: "pi_many", amount_cents: 1_000_000, order_id: "ORD-MANY" });
    for (let n = 0; n < 101; n++) await refund({ paymentId: "pi_many", amountCents: 1 }, `operation-${n}`);
    if (createRefund.downstream.by !== "key") throw new Error("it has a key");
    const ask = (id: string) =>
      createRefund.downstream.by === "key"
        ? createRefund.downstream.lookup?.({ ...request, paymentId: "pi_many" }, id, { signal: patience() })
        : undefined;

    expect(await ask(operation)).toBe("cannot_tell");
    expect(await ask("operation-100")).toMatchObject({ found: { amountCents: 1 } });
  });
});

describe("the order behind a payment", () => {
  test("shows what was paid and what was refunded so far", async () => {
    await refund({ amountCents: 1_500 });

    expect(await readOrder("pi_demo_2", patience())).toEqual({
      id: "ORD-DEMO-2",
      paymentId: "pi_demo_2",
      amountCents: 12_000,
      refundedCents: 1_500,
      currency: "usd",
    });
  });

  test("of no payment is a failure for good", async () => {
    expect(classifyError(await failureOf(readOrder("pi_nothing", patience())))).toMatchObject({
      failureClass: "final",
      httpStatus: 404,
    });
  });
});

describe("a setting that is wrong is named before anything is sent, and may be mended", () => {
  test.each([
    ["STRIPE_API_KEY", undefined, /^STRIPE_API_KEY is not set: .*Nothing was sent$/],
    ["STRIPE_API_KEY", "", /^STRIPE_API_KEY is not set/],
    [
      "STRIPE_API_BASE",
      "api.stripe.com",
      /^STRIPE_API_BASE: expected an address that starts with http:\/\/ or https:\/\//,
    ],
    ["SMTP_URL", undefined, /^SMTP_URL is not set/],
    ["SMTP_URL", "user:secret@mail", /^SMTP_URL: expected an address that starts with smtp:\/\/ or smtps:\/\/\. /],
  ])("%s as %j", async (name, value, message) => {
    vi.stubEnv(name, value);
    const error = await failureOf(refund());

    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).not.toContain("secret");
    expect(classifyError(error)).toMatchObject({ failureClass: "retryable", code: "setting_wrong" });
    expect((await effects()).requests).toBe(0);
  });
});
