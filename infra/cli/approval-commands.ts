import type { Command } from "commander";
import { Approvals, Decided } from "./api-shapes.ts";
import { describeApproval } from "./describe-approval.ts";
import { sessionOf } from "./session.ts";

export function addApprovalCommands(program: Command): void {
  program
    .command("approvals")
    .description("list what waits for a person")
    .action(async (_options: unknown, command: Command) => {
      const { output, api } = sessionOf(command);
      const raw = await api().get("/approvals");
      const { approvals } = Approvals.parse(raw);
      output.result(raw, () =>
        approvals.length === 0 ? "nothing waits for a person" : approvals.map(describeApproval).join("\n\n"),
      );
    });
  addDecision(program, "approve", "let exactly the shown request be sent", "for the record");
  addDecision(program, "reject", "turn the request back, with your words", "the agent plans again with it");
}

function addDecision(program: Command, decision: "approve" | "reject", what: string, comment: string): void {
  program
    .command(`${decision} <approval_id>`)
    .description(what)
    .option("--by <name>", "who decides (default: the user of this shell)")
    .option("--comment <text>", comment)
    .action(async (id: string, options: { by?: string; comment?: string }, command: Command) => {
      const { output, api } = sessionOf(command);
      const by = options.by ?? process.env["USER"];
      const body = { decision, by, comment: options.comment };
      const { body: raw } = await api().post(`/approvals/${encodeURIComponent(id)}`, body);
      const { decision: decided, run_id } = Decided.parse(raw);
      output.result(
        raw,
        () =>
          `${decided.outcome} by ${decided.by ?? "nobody"} at ${decided.at}; surefoot trace ${run_id} shows how it goes on`,
      );
    });
}
