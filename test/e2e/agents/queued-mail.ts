import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { sendMail } from "../../../lambdas/agents/refund-agent/tools.ts";
import { defineAgent } from "../../../shared/index.ts";

process.env["AWS_SDK_UA_APP_ID"] = String(process.pid);

/** A folder: whoever has a file of that name in it cannot be looked up just now. */
export const unreadableFolderName = "E2E_UNREADABLE_FOLDER";

/** One mail through the queue, to somebody who is looked up right before it is sent. */
export default defineAgent("queued-mail", { version: 1, input: z.object({ to: z.email() }) })
  .write("mail", {
    tool: sendMail,
    with: ({ input }) => ({ to: input.to, subject: "It is done", text: "All of it." }),
    businessKey: ({ input }) => input.to,
    precondition: async ({ to }): Promise<true> => {
      if (existsSync(join(process.env[unreadableFolderName] ?? "", to))) throw new Error("the directory is down");
      return true;
    },
  })
  .end();
