import { z } from "zod";
import type { Notices } from "../../shared/notify/channel.ts";
import { tellApprovers } from "../../shared/notify/tell-approvers.ts";
import { expireWait, registerWait, type WaitPorts } from "../../shared/run/wait-run.ts";
import { orPassing } from "../or-passing.ts";

export const WaitEvent = z.discriminatedUnion("action", [
  z.object({
    action: z.literal("ask"),
    run_id: z.string(),
    line: z.string(),
    execution: z.string(),
    task_token: z.string(),
  }),
  z.object({ action: z.literal("expire"), run_id: z.string(), line: z.string(), execution: z.string() }),
]);

export interface WaitOptions {
  /** Who is told about an approval that waits. @default nobody */
  readonly notices?: Notices;
}

/** Parks a run at its waiter and tells people, or records that its time is over. Knows no agent code. */
export const createWaitHandler =
  (ports: WaitPorts & WaitOptions) =>
  async (event: unknown): Promise<unknown> => {
    const parsed = WaitEvent.parse(event);
    const entry = { runId: parsed.run_id, line: parsed.line, execution: parsed.execution };
    const what = `${parsed.action} ${parsed.run_id}`;
    switch (parsed.action) {
      case "ask": {
        const asked = await orPassing(what, () => registerWait(entry, parsed.task_token, ports));
        // Last: whoever comes by the link finds a run that waits. That nobody could be told is no failure of the wait.
        if (asked && ports.notices) await tellApprovers(asked, "requested", { ...ports, notices: ports.notices });
        return { run_id: parsed.run_id };
      }
      case "expire":
        return orPassing(what, () => expireWait(entry, ports));
      default:
        return parsed satisfies never;
    }
  };
