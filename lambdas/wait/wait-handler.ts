import { z } from "zod";
import { expireWait, registerWait, type WaitPorts } from "../../shared/run/wait-run.ts";

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

/** Parks a run at its waiter, or records that its time is over. Knows no agent code. */
export const createWaitHandler =
  (ports: WaitPorts) =>
  async (event: unknown): Promise<unknown> => {
    const parsed = WaitEvent.parse(event);
    const entry = { runId: parsed.run_id, line: parsed.line, execution: parsed.execution };
    switch (parsed.action) {
      case "ask":
        await registerWait(entry, parsed.task_token, ports);
        return { run_id: parsed.run_id };
      case "expire":
        return expireWait(entry, ports);
      default:
        return parsed satisfies never;
    }
  };
