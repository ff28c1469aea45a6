import { z } from "zod";
import { isProgram } from "../child-process.ts";
import { serveControl, type ControlRoutes } from "./control-routes.ts";
import { runAsProgram, type RunningDownstream } from "./downstream-program.ts";
import { FaultQueue } from "./fault-queue.ts";
import { listenHttp, type Exchange } from "./http-server.ts";
import { KEY_WINDOW_MS_DEFAULT } from "./idempotency-keys.ts";
import { Payment, type PaymentsBook } from "./payments-book.ts";
import { hits, holdBefore, PaymentsFault, REFUND_ROUTE } from "./payments-faults.ts";
import { PaymentsState } from "./payments-state.ts";
import { createRefund } from "./refund-endpoint.ts";
import {
  idempotencyKey,
  newRequestId,
  stripeError,
  stripeFaultReply,
  stripeList,
  stripeMissing,
  type StripeReply,
} from "./stripe-reply.ts";

export { PaymentsEffects } from "./payments-state.ts";

export interface PaymentsServerOptions {
  /** @default a free port */
  readonly port?: number | undefined;
  /** JSON lines that carry everything over a restart. @default nothing is kept */
  readonly dataFile?: string | undefined;
  /** @default 24 hours */
  readonly keyWindowMs?: number | undefined;
}

/** Speaks the part of Stripe's API v1 that refunds need, by its documented idempotency rules, and counts the money that moved. */
export async function startPaymentsServer(options: PaymentsServerOptions = {}): Promise<RunningDownstream> {
  const state = new PaymentsState(options.dataFile, options.keyWindowMs ?? KEY_WINDOW_MS_DEFAULT);
  const faults = new FaultQueue<PaymentsFault>();
  const control = controlOf(state, faults);

  const server = await listenHttp(options.port ?? 0, async (exchange) => {
    if (await serveControl(exchange, control)) return;
    const key = idempotencyKey(exchange);
    state.record({ type: "request", route: routeOf(exchange), ...(key === undefined ? {} : { key }) });

    if (!hasTestKey(exchange)) return deliver(exchange, invalidApiKey());
    const arrivedIn = faults.generation;
    const fault = faults.take((candidate) => hits(candidate, exchange));
    if (fault?.fault === "drop_request") return exchange.drop();
    if (fault?.fault === "status") return deliver(exchange, stripeFaultReply(fault.status, fault.retry_after_seconds));

    const reply =
      routeOf(exchange) === REFUND_ROUTE
        ? await createRefund(exchange, state, faults, fault)
        : await read(exchange, state.book, faults, fault);

    if (fault?.fault === "drop_response") return exchange.drop();
    if (fault?.fault === "hold_after_commit" || fault?.fault === "late_commit") await faults.hold(undefined, arrivedIn);
    deliver(exchange, reply);
  });

  return {
    url: server.url,
    close: async () => {
      faults.abandon();
      await server.close();
      state.close();
    },
  };
}

function controlOf(state: PaymentsState, faults: FaultQueue<PaymentsFault>): ControlRoutes<PaymentsFault> {
  return {
    faults,
    faultSchema: PaymentsFault,
    milestones: state.milestones,
    reads: { effects: () => state.effects() },
    writes: {
      payments: (body) => {
        const payment = Payment.parse(body);
        state.record({ type: "payment", payment });
        return payment;
      },
      clock: (body) => {
        const { offset_ms } = z.object({ offset_ms: z.number().int() }).parse(body);
        state.record({ type: "clock", offset_ms });
        return { now: new Date(state.nowMs()).toISOString() };
      },
    },
  };
}

async function read(
  exchange: Exchange,
  book: PaymentsBook,
  faults: FaultQueue<PaymentsFault>,
  fault: PaymentsFault | undefined,
): Promise<StripeReply> {
  await holdBefore(faults, fault);
  if (fault?.fault === "status_after_commit") return stripeFaultReply(fault.status, fault.retry_after_seconds);
  const id = exchange.path.split("/")[3] ?? "";
  switch (routeOf(exchange)) {
    case "GET /v1/refunds":
      return stripeList("/v1/refunds", book.refundsOf(exchange.query.get("payment_intent")), exchange.query);
    case "GET /v1/refunds/:id": {
      const refund = book.findRefund(id);
      return refund === undefined ? stripeMissing("refund", id, "id") : { status: 200, body: refund };
    }
    case "GET /v1/payment_intents/:id": {
      const isChargeWanted = ([name, value]: [string, string]) =>
        name.startsWith("expand[") && value === "latest_charge";
      const intent = book.paymentIntent(id, [...exchange.query].some(isChargeWanted));
      return intent === undefined ? stripeMissing("payment_intent", id, "intent") : { status: 200, body: intent };
    }
    default: {
      const message = `Unrecognized request URL (${exchange.method}: ${exchange.path}). This local server knows refunds and payment_intents.`;
      return stripeError(404, { message });
    }
  }
}

/** `/v1/refunds/re_1` and `/v1/refunds/re_2` are one route. */
function routeOf({ method, path }: Exchange): string {
  return `${method} ${path.replace(/^(\/v1\/\w+)\/[^/]+$/, "$1/:id")}`;
}

/** Any test key will do, as a bearer or as the user of basic auth; a live one never belongs here. */
function hasTestKey({ headers }: Exchange): boolean {
  const [scheme, secret = ""] = (headers.authorization ?? "").split(" ");
  const key = scheme === "Basic" ? Buffer.from(secret, "base64").toString("utf8").replace(/:$/, "") : secret;
  return /^sk_test_\w+$/.test(key);
}

function invalidApiKey(): StripeReply {
  return stripeError(401, { message: "Expected an API key that starts with sk_test_, found none or another." });
}

function deliver(exchange: Exchange, reply: StripeReply): void {
  const key = idempotencyKey(exchange);
  exchange.answer(reply.status, reply.body, {
    "request-id": newRequestId(),
    ...(key === undefined ? {} : { "idempotency-key": key }),
    ...reply.headers,
  });
}

if (isProgram(import.meta.url)) {
  await runAsProgram("payments", ({ port, data, keyWindowMs }) =>
    startPaymentsServer({ port, dataFile: data, keyWindowMs }),
  );
}
