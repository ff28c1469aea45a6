import { z } from "zod";
import { FaultBase, FaultDelay, type FaultQueue } from "./fault-queue.ts";
import type { Exchange } from "./http-server.ts";

/** The route that moves money: a fault means this one unless it names another. */
export const REFUND_ROUTE = "POST /v1/refunds";

/** `route` is a prefix of `METHOD /path`, or `*`; with `payment`, only requests about that one are hit. Every fault also hits the replay of a stored result: a client that retries
 *  by itself meets `times` of them. */
const Fault = FaultBase.extend({ route: z.string().default(REFUND_ROUTE), payment: z.string().optional() });
const Status = {
  status: z.number().int().min(400).max(599),
  retry_after_seconds: z.number().int().nonnegative().optional(),
};

export const PaymentsFault = z.discriminatedUnion("fault", [
  /** Cut before anything happened. */
  Fault.extend({ fault: z.literal("drop_request") }),
  /** Answered before anything happened, like a rate limiter: no key remembers it. */
  Fault.extend({ fault: z.literal("status"), ...Status }),
  /** The key is in flight meanwhile; then as usual. */
  Fault.extend({ fault: z.literal("slow"), ...FaultDelay }),
  /** Money moves after the delay, and the caller hears nothing until the faults are cleared. */
  Fault.extend({ fault: z.literal("late_commit"), ...FaultDelay }),
  /** Money moves at once, and the caller hears nothing until the faults are cleared. */
  Fault.extend({ fault: z.literal("hold_after_commit") }),
  /** Money moves, then the connection is cut. */
  Fault.extend({ fault: z.literal("drop_response") }),
  /** Money moves, but the answer, stored for the key, is an error. */
  Fault.extend({ fault: z.literal("status_after_commit"), ...Status }),
]);
export type PaymentsFault = z.infer<typeof PaymentsFault>;

export function hits({ route, payment }: PaymentsFault, { method, path, query, body }: Exchange): boolean {
  const onRoute = route === "*" || `${method} ${path}`.startsWith(route);
  const named = [new URLSearchParams(body).get("payment_intent"), query.get("payment_intent"), path.split("/")[3]];
  return onRoute && (payment === undefined || named.includes(payment));
}

/** The wait that a slow or late fault puts before the endpoint runs. */
export async function holdBefore(faults: FaultQueue<PaymentsFault>, fault: PaymentsFault | undefined): Promise<void> {
  if (fault?.fault === "slow" || fault?.fault === "late_commit") await faults.hold(fault.ms);
}
