import { z } from "zod";
import { defineAgent, none, plainView, seconds, writeTool } from "../../../shared/index.ts";

const send = writeTool("send", {
  version: 1,
  risk: "medium",
  input: z.object({ name: z.string() }),
  output: z.object({ sent: z.string() }),
  timeout: seconds(10),
  downstream: none(),
  semanticFields: ["name"],
  execute: async () => {
    throw new Error("expected nothing to be sent: nobody had the time to approve it");
  },
});

/** Gives people less time than they need. */
export default defineAgent("review-briefly", { version: 1, input: z.object({ name: z.string() }) })
  .approval("review", {
    of: "send",
    show: ({ input }) => plainView({ title: `Send ${input.name}`, facts: { To: "everybody" } }),
    approvers: { names: ["ann@example.com", "bob@example.com"] },
    validFor: seconds(5),
    onReject: "end",
    onExpire: "end",
  })
  .write("send", { tool: send, with: ({ input }) => input, businessKey: ({ input }) => input.name })
  .end();
