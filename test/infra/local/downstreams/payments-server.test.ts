import type Stripe from "stripe";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { controlClient, type ControlClient } from "../../../../infra/local/downstreams/control-client.ts";
import type { RunningDownstream } from "../../../../infra/local/downstreams/downstream-program.ts";
import { PaymentsEffects, startPaymentsServer } from "../../../../infra/local/downstreams/payments-server.ts";
import { stripeClient } from "./stripe-client.ts";

const HOUR_MS = 3_600_000;

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
const refund = (amount: number, idempotencyKey?: string, client = stripe) =>
  client.refunds.create(
    { payment_intent: "pi_demo_2", amount, reason: "requested_by_customer", metadata: { order_id: "ORD-DEMO-2" } },
    idempotencyKey === undefined ? {} : { idempotencyKey },
  );

describe("refunds", () => {
  test("a refund moves money, and is found again by id and by payment", async () => {
    const created = await refund(3_000, "k1");

    expect(created).toMatchObject({
      object: "refund",
      amount: 3_000,
      currency: "usd",
      payment_intent: "pi_demo_2",
      reason: "requested_by_customer",
      status: "succeeded",
      metadata: { order_id: "ORD-DEMO-2" },
    });
    expect(await stripe.refunds.retrieve(created.id)).toEqual(created);
    expect((await stripe.refunds.list({ payment_intent: "pi_demo_2", limit: 5 })).data).toEqual([created]);
    expect((await stripe.refunds.list({ payment_intent: "pi_demo_1" })).data).toEqual([]);
    expect(await effects()).toEqual({
      refunds: 1,
      amount_cents: 3_000,
      by_payment: { pi_demo_2: { count: 1, amount_cents: 3_000 } },
      requests: 1,
      requests_by_key: { k1: 1 },
      requests_by_route: { "POST /v1/refunds": 1, "GET /v1/refunds/:id": 1, "GET /v1/refunds": 2 },
    });
  });

  test("a long list comes in pages, newest first", async () => {
    for (const key of ["k1", "k2", "k3"]) await refund(100, key);

    const ids: string[] = [];
    for await (const { id } of stripe.refunds.list({ payment_intent: "pi_demo_2", limit: 2 })) ids.push(id);

    expect(new Set(ids).size).toBe(3);
    expect((await stripe.refunds.list({ limit: 1 })).data[0]?.id).toBe(ids[0]);
  });

  test("a payment intent names its order, and its expanded charge says how much went back", async () => {
    await refund(3_000);

    const plain = await stripe.paymentIntents.retrieve("pi_demo_2");
    const expanded = await stripe.paymentIntents.retrieve("pi_demo_2", { expand: ["latest_charge"] });

    expect(plain).toMatchObject({
      amount: 12_000,
      amount_received: 12_000,
      currency: "usd",
      latest_charge: "ch_demo_2",
      metadata: { order_id: "ORD-DEMO-2" },
      receipt_email: "customer2@example.com",
    });
    expect(expanded.latest_charge).toMatchObject({ id: "ch_demo_2", amount_refunded: 3_000, refunded: false });
  });

  test("a seeded payment can be refunded, without an amount in full", async () => {
    await control.post("payments", { id: "pi_a", amount_cents: 700, order_id: "O-1", receipt_email: "a@example.com" });

    expect(await stripe.refunds.create({ payment_intent: "pi_a" })).toMatchObject({ amount: 700, reason: null });
    await expect(stripe.refunds.create({ payment_intent: "pi_a" })).rejects.toMatchObject({
      statusCode: 400,
      code: "charge_already_refunded",
    });
  });

  test("more than what is left is refused", async () => {
    await refund(10_000);

    await expect(refund(2_001)).rejects.toMatchObject({
      type: "StripeInvalidRequestError",
      statusCode: 400,
      code: "amount_too_large",
      param: "amount",
    });
    expect((await effects()).refunds).toBe(1);
  });

  test("an unknown payment, refund or route is a 404", async () => {
    const missing = { statusCode: 404, code: "resource_missing" };
    await expect(stripe.refunds.create({ payment_intent: "pi_none" })).rejects.toMatchObject(missing);
    await expect(stripe.refunds.retrieve("re_none")).rejects.toMatchObject(missing);
    await expect(stripe.paymentIntents.retrieve("pi_none")).rejects.toMatchObject(missing);
    await expect(stripe.customers.retrieve("cus_1")).rejects.toMatchObject({ statusCode: 404 });
  });

  test("a key that is missing, live or foreign is refused before anything else", async () => {
    for (const apiKey of ["sk_live_1", "nonsense"]) {
      await expect(refund(1, "k1", stripeClient(server.url, { apiKey }))).rejects.toMatchObject({
        type: "StripeAuthenticationError",
        statusCode: 401,
      });
    }
    expect((await fetch(`${server.url}/v1/refunds`)).status).toBe(401);
    expect(await effects()).toMatchObject({ refunds: 0, requests: 2 });
  });
});

describe("idempotency keys", () => {
  test("the same key gives the first result back and moves no more money", async () => {
    const first = await refund(500, "k1");
    const second = await refund(500, "k1");

    expect(second).toEqual(first);
    expect(first.lastResponse.headers["idempotent-replayed"]).toBeUndefined();
    expect(second.lastResponse.headers["idempotent-replayed"]).toBe("true");
    expect(await effects()).toMatchObject({ refunds: 1, requests: 2, requests_by_key: { k1: 2 } });
  });

  test("without a shared key the same request moves money again", async () => {
    await refund(500, "k1");
    await refund(500, "k2");
    await refund(500);

    expect((await effects()).by_payment).toEqual({ pi_demo_2: { count: 3, amount_cents: 1_500 } });
  });

  test("the same key with other parameters is refused", async () => {
    await refund(500, "k1");

    await expect(refund(501, "k1")).rejects.toMatchObject({ type: "StripeIdempotencyError", statusCode: 400 });
    expect((await effects()).refunds).toBe(1);
  });

  test("the same key while the first request is in flight is a conflict, and a replay afterwards", async () => {
    await control.post("faults", { fault: "slow" });
    const first = refund(500, "k1");
    await control.get("wait?for=request&count=1");

    await expect(refund(500, "k1")).rejects.toMatchObject({ statusCode: 409, code: "idempotency_key_in_use" });

    await control.delete("faults");
    const { id } = await first;
    expect((await refund(500, "k1")).id).toBe(id);
    expect((await effects()).refunds).toBe(1);
  });

  test("a key is a new request once its window has passed", async () => {
    const first = await refund(500, "k1");
    await control.post("clock", { offset_ms: 24 * HOUR_MS - 60_000 });
    expect((await refund(500, "k1")).id).toBe(first.id);

    await control.post("clock", { offset_ms: 24 * HOUR_MS });
    expect((await refund(500, "k1")).id).not.toBe(first.id);
    expect((await effects()).refunds).toBe(2);
  });

  test("a refusal found by executing is stored, one found by reading the parameters is not", async () => {
    const tooLarge = { statusCode: 400, code: "amount_too_large" };
    await expect(refund(12_001, "k1")).rejects.toMatchObject(tooLarge);
    await control.post("payments", { id: "pi_demo_2", amount_cents: 20_000, order_id: "ORD-DEMO-2" });
    await expect(refund(12_001, "k1")).rejects.toMatchObject({
      ...tooLarge,
      headers: { "idempotent-replayed": "true" },
    });

    await expect(refund(-1, "k2")).rejects.toMatchObject({ code: "parameter_invalid_integer" });
    expect((await refund(1, "k2")).amount).toBe(1);
  });

  test("a key longer than Stripe accepts is refused", async () => {
    await expect(refund(1, "k".repeat(256))).rejects.toMatchObject({ statusCode: 400 });
  });
});
