import { digestOf } from "../operation/canonical-json.ts";
import { type Waiter, waiterId, waiterVersion } from "../waiter/waiter.ts";

/** Of exactly what is asked: the frozen subject with its request, and whether the question still stands. A link and a form are bound to it. */
export const askedDigest = (waiter: Waiter): string =>
  digestOf({
    approval_id: waiterId(waiter.run_id, waiter.position),
    subject: waiter.subject,
    version: waiterVersion(waiter),
    write_id: waiter.write_id,
  });
