import { appendFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { days, defineAgent, none, plainView, seconds, writeTool } from "../../../shared/index.ts";
import { outsideNames, sideOf } from "./guarded-outside.ts";

const Transfer = z.object({ name: z.string(), amountCents: z.number().int() });

/** How the outside is at this moment, for one transfer. A test changes it under a decision. */
const outside = (name: string) => sideOf(readFileSync(process.env[outsideNames.world] ?? "", "utf8"), name);

const transfer = writeTool("transfer", {
  version: 1,
  risk: "high",
  input: Transfer,
  output: z.object({ sent: z.string() }),
  timeout: seconds(10),
  downstream: none(),
  semanticFields: ["name", "amountCents"],
  execute: async ({ name, amountCents }) => {
    await appendFile(process.env[outsideNames.effects] ?? "", `${name} ${amountCents}\n`);
    return { sent: name };
  },
});

/** Takes two of three people, none of them whoever asked, and relies on the account's status and limit. */
export default defineAgent("guarded-transfer", { version: 1, input: Transfer })
  .approval("review", {
    of: "transfer",
    show: ({ input }) =>
      plainView({
        title: `Transfer for ${input.name}`,
        money: [{ label: "Amount", amountCents: input.amountCents, currency: "EUR" }],
      }),
    snapshot: ({ input }) => ({ status: outside(input.name).status }),
    approvers: { names: ["ann@example.com", "bob@example.com", "cleo@example.com"], quorum: 2, excludeRequester: true },
    validFor: days(7),
    onReject: "end",
    onStale: { digest_changed: "review", snapshot_changed: "review" },
  })
  .write("transfer", {
    tool: transfer,
    with: ({ input }) => ({ name: input.name, amountCents: input.amountCents + outside(input.name).driftCents }),
    businessKey: ({ input }) => input.name,
    precondition: ({ name, amountCents }) => {
      const { limitCents } = outside(name);
      return amountCents <= limitCents || `the limit is ${limitCents}`;
    },
  })
  .end();
