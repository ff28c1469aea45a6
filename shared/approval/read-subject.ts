import { RecordCorrupt } from "../faults/faults.ts";
import { unpackValue } from "../payloads/claim-check.ts";
import type { PayloadStore } from "../payloads/payload-store.ts";
import type { Waiter } from "../waiter/waiter.ts";
import { ApprovalSubject } from "./approval.ts";

/** What an approval is bound to, and what its reviewer sees. @throws RecordCorrupt for a subject in another shape. */
export async function readSubject(waiter: Waiter, payloads: PayloadStore): Promise<ApprovalSubject> {
  const parsed = ApprovalSubject.safeParse(await unpackValue(payloads, waiter.subject));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ");
  throw new RecordCorrupt(`the subject of approval ${waiter.run_id}:${waiter.position}`, problems);
}
