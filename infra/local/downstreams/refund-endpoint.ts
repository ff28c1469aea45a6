import { randomUUID } from "node:crypto";
import type { FaultQueue } from "./fault-queue.ts";
import type { Exchange } from "./http-server.ts";
import { holdBefore, type PaymentsFault } from "./payments-faults.ts";
import type { Refund } from "./payments-book.ts";
import type { PaymentsState } from "./payments-state.ts";
import { readRefundRequest, type RefundRequest } from "./refund-request.ts";
import { idempotencyKey, newRequestId, stripeError, stripeFaultReply, type StripeReply } from "./stripe-reply.ts";

/** "up to 255 characters long": https://docs.stripe.com/api/idempotent_requests */
const KEY_CHARACTERS_MAX = 255;

/** `POST /v1/refunds`: validate, claim the key, execute, store the result for the key.
 *  "We save results only after the execution of an endpoint begins. If incoming parameters fail validation, or the request
 *  conflicts with another request that's executing concurrently, we don't save the idempotent result" (the same page). */
export async function createRefund(
  exchange: Exchange,
  state: PaymentsState,
  faults: FaultQueue<PaymentsFault>,
  fault: PaymentsFault | undefined,
): Promise<StripeReply> {
  const request = readRefundRequest(exchange.body);
  if ("refusal" in request) return request.refusal;
  const key = idempotencyKey(exchange);
  if (key === undefined) {
    await holdBefore(faults, fault);
    const { reply, refund } = execute(state, request, fault);
    if (refund !== undefined) state.record({ type: "executed", refund });
    return reply;
  }
  if (key.length > KEY_CHARACTERS_MAX) {
    const message = `Expected an Idempotency-Key of at most ${KEY_CHARACTERS_MAX} characters, found ${key.length}.`;
    return stripeError(400, { message });
  }

  const claim = state.keys.claim(key, request.fingerprint);
  switch (claim.kind) {
    case "other_parameters":
      return otherParameters(key);
    case "in_flight":
      return keyInUse(key);
    case "replay":
      await holdBefore(faults, fault);
      return {
        status: claim.result.status,
        body: claim.result.body,
        headers: { "idempotent-replayed": "true", "original-request": claim.result.request_id },
      };
    case "first": {
      await holdBefore(faults, fault);
      const { reply, refund } = execute(state, request, fault);
      const result = {
        key,
        fingerprint: request.fingerprint,
        begun_at_ms: claim.begunAtMs,
        request_id: newRequestId(),
        status: reply.status,
        body: reply.body,
      };
      state.record({ type: "executed", result, ...(refund === undefined ? {} : { refund }) });
      return { ...reply, headers: { ...reply.headers, "request-id": result.request_id } };
    }
    default:
      return claim satisfies never;
  }
}

/** The endpoint itself. From here on the result belongs to the key, whatever it is: whether the payment exists and how much of
 *  it is left is found out by executing, unlike a malformed parameter. */
function execute(
  state: PaymentsState,
  request: RefundRequest,
  fault: PaymentsFault | undefined,
): { readonly reply: StripeReply; readonly refund?: Refund } {
  const id = `re_${randomUUID().replaceAll("-", "").slice(0, 24)}`;
  const decision = state.book.decideRefund(request, id, state.nowMs());
  if ("refusal" in decision) return { reply: decision.refusal };
  const { refund } = decision;
  if (fault?.fault !== "status_after_commit") return { refund, reply: { status: 200, body: refund } };
  return { refund, reply: stripeFaultReply(fault.status, fault.retry_after_seconds) };
}

function otherParameters(key: string): StripeReply {
  return stripeError(400, {
    type: "idempotency_error",
    message: `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
  });
}

function keyInUse(key: string): StripeReply {
  return stripeError(409, {
    code: "idempotency_key_in_use",
    message: `There is currently another in-progress request using this Idempotent Key: '${key}'. Please try again later.`,
  });
}
