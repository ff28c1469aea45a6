import { BadRequest } from "../../shared/faults/faults.ts";
import type { RunLog } from "../../shared/runlog/run-log.ts";
import { RunId } from "../../shared/runlog/run-record.ts";
import { parseWaiterId, type Waiter } from "../../shared/waiter/waiter.ts";

/**
 * An approval's path, with its id to the end. The router takes the widest path first, so the verbs that may stand behind an id are left
 * out: no id ends like that, since the last part of a position begins with its number.
 */
export const approvalPath = "/approvals/:waiter_id{.+(?<!/cancel|/remind)}";

/** DynamoDB's limit on a sort key, less room for our prefix. */
const positionBytesMax = 1_000;

/** The approval with this id. @throws BadRequest 404 where there is none. */
export async function findApproval(id: string, log: RunLog): Promise<Waiter> {
  const key = parseWaiterId(id);
  const couldBe = key && RunId.safeParse(key.runId).success && key.position.length <= positionBytesMax;
  const waiter = couldBe && (await log.readWaiter(key.runId, key.position));
  if (waiter && waiter.kind === "approval") return waiter;
  throw new BadRequest(
    "unknown_approval",
    `there is no approval "${id}": surefoot approvals lists the ones that wait`,
    404,
  );
}
