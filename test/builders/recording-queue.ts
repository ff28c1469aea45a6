import type { Delivery, DeliveryQueue } from "../../shared/ports/delivery-queue.ts";

/** A queue that keeps what was sent, for a test to deliver. */
export function recordingQueue(): DeliveryQueue & { readonly sent: Delivery[] } {
  const sent: Delivery[] = [];
  return {
    sent,
    send: (delivery) => {
      sent.push(delivery);
      return Promise.resolve();
    },
  };
}
