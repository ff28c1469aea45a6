import type { Command } from "commander";
import { ageMs } from "./age.ts";
import { Approval, Approvals, Decided } from "./api-shapes.ts";
import { describeApproval } from "./describe-approval.ts";
import { queryOf, sessionOf, wholeNumber } from "./session.ts";

/** Rows that the API lists at most. */
const listLimitMax = 200;
const user = process.env["USER"];

export function addApprovalCommands(program: Command): void {
  addList(program);
  program
    .command("approval <approval_id>")
    .description("show one approval: what is asked, who may decide, how it stands")
    .action(async (id: string, _options: unknown, command: Command) => {
      const { output, api } = sessionOf(command);
      const raw = await api().get(`/approvals/${encodeURIComponent(id)}`);
      output.result(raw, () => describeApproval(Approval.parse(raw)));
    });
  addDecision(program, "approve", "let exactly the shown request be sent", "for the record");
  addDecision(
    program,
    "reject",
    "turn the request back, with your words",
    "for the record, and for the agent where it goes on",
  );
  addCancel(program);
}

interface ListOptions {
  readonly status?: string;
  readonly agent?: string;
  readonly olderThan?: string;
  readonly approver?: string;
  readonly limit: string;
}

function addList(program: Command): void {
  program
    .command("approvals")
    .description("list what waits for a person, oldest first")
    .option("--status <status>", "pending (default), approved, rejected, expired, cancelled or superseded ones")
    .option("--agent <name>", "only those of this agent")
    .option("--older-than <age>", "only those asked longer ago than 90m, 2h or 3d")
    .option("--approver <name>", "only those that this name or role may decide, or had a word in")
    .option("--limit <n>", `rows at most, up to ${listLimitMax}`, "50")
    .action(async (options: ListOptions, command: Command) => {
      const { output, api } = sessionOf(command);
      const query = queryOf({
        status: options.status?.toLowerCase(),
        agent: options.agent,
        requested_before:
          options.olderThan && new Date(Date.now() - ageMs("--older-than", options.olderThan)).toISOString(),
        approver: options.approver,
        limit: String(wholeNumber("--limit", options.limit, 1, listLimitMax)),
      });
      const raw = await api().get(`/approvals${query}`);
      const { approvals, more } = Approvals.parse(raw);
      output.result(raw, () => (approvals.length === 0 ? nothingOf(options) : describeAll(approvals, more)));
    });
}

const nothingOf = ({ status, agent, olderThan, approver }: ListOptions): string =>
  [status, agent, olderThan, approver].every((option) => option === undefined)
    ? "nothing waits for a person"
    : "no such approvals";

const describeAll = (approvals: readonly Approval[], more: boolean): string =>
  [...approvals.map(describeApproval), ...(more ? ["there are more: narrow it down, or raise --limit"] : [])].join(
    "\n\n",
  );

interface DecisionOptions {
  readonly by?: string;
  readonly comment?: string;
  readonly expectedVersion?: string;
}

function addDecision(program: Command, decision: "approve" | "reject", what: string, comment: string): void {
  program
    .command(`${decision} <approval_id>`)
    .description(what)
    .option("--by <name>", "who decides (default: the user of this shell)", user)
    .option("--comment <text>", comment)
    .option("--expected-version <n>", "refuse if the approval is no longer the version you looked at")
    .action(async (id: string, options: DecisionOptions, command: Command) => {
      const { output, api } = sessionOf(command);
      const body = {
        decision,
        by: options.by,
        comment: options.comment,
        ...(options.expectedVersion !== undefined && {
          expected_version: wholeNumber("--expected-version", options.expectedVersion, 1, Number.MAX_SAFE_INTEGER),
        }),
      };
      const { body: raw } = await api().post(`/approvals/${encodeURIComponent(id)}`, body);
      const decided = Decided.parse(raw);
      output.result(raw, () => saidOf(decided));
    });
}

function addCancel(program: Command): void {
  program
    .command("cancel-approval <approval_id>")
    .description("withdraw a question that nobody has answered; its run goes where an expired one goes")
    .option("--by <name>", "who withdraws it (default: the user of this shell)", user)
    .option("--comment <text>", "why; the agent sees it where it goes on")
    .action(async (id: string, options: { readonly by?: string; readonly comment?: string }, command: Command) => {
      const { output, api } = sessionOf(command);
      const body = { by: options.by, comment: options.comment };
      const { body: raw } = await api().post(`/approvals/${encodeURIComponent(id)}/cancel`, body);
      const decided = Decided.parse(raw);
      output.result(raw, () => saidOf(decided));
    });
}

function saidOf({ approval_id, run_id, decision, votes, quorum }: Decided): string {
  if (!decision) {
    return `your yes counts: ${votes?.length ?? 1} of ${quorum ?? 1}; surefoot approval ${approval_id} shows who else has to decide`;
  }
  return `${decision.outcome} by ${decision.by ?? "nobody"} at ${decision.at}; surefoot trace ${run_id} shows how it goes on`;
}
