import { appendFile } from "node:fs/promises";
import { z } from "zod";
import { days, defineAgent, none, seconds, writeTool } from "../../../shared/index.ts";
import { worldNames } from "./world-names.ts";

const send = writeTool("send", {
  version: 1,
  risk: "high",
  input: z.object({ name: z.string() }),
  output: z.object({ sent: z.string() }),
  timeout: seconds(10),
  downstream: none(),
  semanticFields: ["name"],
  execute: async ({ name }) => {
    await appendFile(process.env[worldNames.effects] ?? "", `${name}\n`);
    return { sent: name };
  },
});

/** Takes two people. */
export default defineAgent("review-by-two", { version: 1, input: z.object({ name: z.string() }) })
  .approval("review", {
    of: "send",
    show: ({ input }) => ({
      title: `Send ${input.name}`,
      fields: [{ type: "addresses", label: "To", list: ["board@example.com"] }],
      on_approve: "It is sent once.",
      on_reject: "Nothing is sent.",
    }),
    approvers: { names: ["ann@example.com", "bob@example.com", "cleo@example.com"], quorum: 2 },
    validFor: days(7),
    onReject: "end",
  })
  .write("send", { tool: send, with: ({ input }) => input, businessKey: ({ input }) => input.name })
  .end();
