import type Stripe from "stripe";
import { afterEach, beforeEach, expect, test } from "vitest";
import { controlClient, type ControlClient } from "../../../../infra/local/downstreams/control-client.ts";
import type { RunningDownstream } from "../../../../infra/local/downstreams/downstream-program.ts";
import { PaymentsEffects, startPaymentsServer } from "../../../../infra/local/downstreams/payments-server.ts";
import { stripeClient } from "./stripe-client.ts";

let server: RunningDownstream;
let stripe: Stripe;
let control: ControlClient;

beforeEach(async () => {
  server = await startPaymentsServer();
  stripe = stripeClient(server.url);
  control = controlClient(server.url);
});
afterEach(() => server.close());

const effects = async () => PaymentsEffects.parse(await control.get("effects"));
const refund = (amount: number, idempotencyKey?: string) =>
  stripe.refunds.create(
    { payment_intent: "pi_demo_2", amount, reason: "requested_by_customer", metadata: { order_id: "ORD-DEMO-2" } },
    idempotencyKey === undefined ? {} : { idempotencyKey },
  );

test("hold_after_commit: money moved, the caller hears nothing until the faults are cleared", async () => {
  await control.post("faults", { fault: "hold_after_commit" });
  const held = refund(500, "k1");
  await control.get("wait?for=commit&count=1");

  expect((await effects()).refunds).toBe(1);
  const replayed = await refund(500, "k1");
  expect(await control.delete("faults")).toEqual({ released: 1 });
  expect((await held).id).toBe(replayed.id);
  expect((await effects()).refunds).toBe(1);
});

test("drop_response: the client's own retry of a reset connection meets the stored result", async () => {
  await control.post("faults", { fault: "drop_response" });

  const created = await refund(500, "k1");

  expect(created.lastResponse.headers["idempotent-replayed"]).toBe("true");
  expect(await effects()).toMatchObject({ refunds: 1, requests: 2 });
});

test("drop_response twice: the client gives up, and the money moved once", async () => {
  await control.post("faults", { fault: "drop_response", times: 2 });

  await expect(refund(500, "k1")).rejects.toMatchObject({ type: "StripeConnectionError" });
  expect(await effects()).toMatchObject({ refunds: 1, requests: 2 });
});

test("drop_request: the connection is cut and nothing happened", async () => {
  await control.post("faults", { fault: "drop_request", times: 2 });

  await expect(refund(500, "k1")).rejects.toMatchObject({ type: "StripeConnectionError" });
  expect(await effects()).toMatchObject({ refunds: 0, requests: 2 });
});

test("late_commit: nothing for the caller, nothing in the books, and then the money moves after all", async () => {
  await control.post("faults", { fault: "late_commit" });
  const late = refund(500, "k1");
  await control.get("wait?for=request&count=1");
  expect((await stripe.refunds.list({ payment_intent: "pi_demo_2" })).data).toEqual([]);
  await expect(refund(500, "k1")).rejects.toMatchObject({ statusCode: 409 });

  await control.delete("faults");

  expect((await refund(500, "k1")).id).toBe((await late).id);
  expect((await effects()).refunds).toBe(1);
});

test("late_commit: a caller that hung up does not stop it", async () => {
  await control.post("faults", { fault: "late_commit" });
  const hangUp = new AbortController();
  const late = fetch(`${server.url}/v1/refunds`, {
    method: "POST",
    headers: { authorization: "Bearer sk_test_local", "idempotency-key": "k1" },
    body: new URLSearchParams({ payment_intent: "pi_demo_2", amount: "500" }),
    signal: hangUp.signal,
  });
  await control.get("wait?for=request&count=1");
  hangUp.abort();
  await expect(late).rejects.toThrow();
  expect((await effects()).refunds).toBe(0);

  await control.delete("faults");
  await control.get("wait?for=commit&count=1");
  expect((await effects()).refunds).toBe(1);
});

test("late_commit after a given time needs nobody to release it, and still answers nobody", async () => {
  await control.post("faults", { fault: "late_commit", ms: 1 });
  let isAnswered = false;
  const held = refund(500, "k1").finally(() => (isAnswered = true));
  await control.get("wait?for=commit&count=1");

  expect(isAnswered).toBe(false);
  expect(await control.get("faults")).toEqual({ waiting: [], held: 1 });
  await control.delete("faults");
  await held;
});

test("status: answered before execution, so that no key remembers it", async () => {
  await control.post("faults", { fault: "status", status: 429, retry_after_seconds: 7 });
  await control.post("faults", { fault: "status", status: 503 });

  await expect(refund(500, "k1")).rejects.toMatchObject({
    type: "StripeRateLimitError",
    headers: { "retry-after": "7" },
  });
  await expect(refund(500, "k1")).rejects.toMatchObject({ type: "StripeAPIError", statusCode: 503 });
  expect((await effects()).refunds).toBe(0);
  expect((await refund(500, "k1")).lastResponse.headers["idempotent-replayed"]).toBeUndefined();
});

test("status_after_commit: money moved, and the key remembers the error", async () => {
  await control.post("faults", { fault: "status_after_commit", status: 500 });
  await expect(refund(500, "k1")).rejects.toMatchObject({ statusCode: 500 });

  await expect(refund(500, "k1")).rejects.toMatchObject({
    statusCode: 500,
    headers: { "idempotent-replayed": "true" },
  });
  expect((await stripe.refunds.list({ payment_intent: "pi_demo_2" })).data).toHaveLength(1);
  expect((await effects()).refunds).toBe(1);
});

test("a fault hits the refund route unless it names another", async () => {
  await control.post("faults", { fault: "status", status: 500 });
  await control.post("faults", { fault: "status", status: 503, route: "GET /v1/payment_intents" });

  expect((await stripe.refunds.list()).data).toEqual([]);
  await expect(stripe.paymentIntents.retrieve("pi_demo_1")).rejects.toMatchObject({ statusCode: 503 });
  await expect(refund(1)).rejects.toMatchObject({ statusCode: 500 });
});

test("a fault that names a payment leaves the others alone, on every route", async () => {
  await control.post("faults", { fault: "status", status: 500, payment: "pi_demo_1" });
  await control.post("faults", { fault: "status", status: 503, payment: "pi_demo_1", route: "GET /v1", times: 2 });

  expect((await refund(1)).status).toBe("succeeded");
  expect((await stripe.refunds.list({ payment_intent: "pi_demo_2" })).data).toHaveLength(1);
  await expect(stripe.refunds.list({ payment_intent: "pi_demo_1" })).rejects.toMatchObject({ statusCode: 503 });
  await expect(stripe.paymentIntents.retrieve("pi_demo_1")).rejects.toMatchObject({ statusCode: 503 });
  await expect(stripe.refunds.create({ payment_intent: "pi_demo_1", amount: 1 })).rejects.toMatchObject({
    statusCode: 500,
  });
});

test("a malformed fault, an unknown control route and a wait in vain say what is wrong", async () => {
  await expect(control.post("faults", { fault: "hodl" })).rejects.toThrow(/400.*hold_after_commit/s);
  await expect(control.get("nothing")).rejects.toThrow(/404.*GET effects/s);
  await expect(control.get("wait?for=commit&count=1&timeout_ms=1")).rejects.toThrow(/408.*only 0 came/s);
  await expect(control.get("wait?for=rain")).rejects.toThrow(/400.*commit/s);
});
