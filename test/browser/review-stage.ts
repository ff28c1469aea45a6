import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { apiClient } from "../../infra/cli/api-client.ts";
import { type LocalRunner, startLocalRunner } from "../../infra/local/local-runner.ts";
import type { ApprovalField, ApprovalView } from "../../shared/index.ts";
import type { Notice } from "../../shared/notify/notice.ts";
import { actionsOf, eventually } from "../e2e/stage.ts";
import { worldNames } from "./agents/world-names.ts";

const agentModule = (name: string) => fileURLToPath(new URL(`./agents/${name}.ts`, import.meta.url));

/** Where pictures of the pages are left for people to look at; git ignores it. */
const pictures = fileURLToPath(new URL("../../.screenshots/", import.meta.url));

/** For whole tests and hooks: bundling, cold starts and a browser on a machine that is busy with other suites. */
export const slowMs = 300_000;

export const ann = "ann@example.com";
export const bob = "bob@example.com";

/** Something to decide, and the links that were sent about it. */
export interface Asked {
  readonly runId: string;
  readonly approvalId: string;
  /** Of its page behind the API. */
  readonly page: string;
  linkOf(approver: string): string;
}

export type ReviewStage = Awaited<ReturnType<typeof startReviewStage>>;

/** A real runner with agents that ask, and everything that people were told. */
export async function startReviewStage() {
  const folder = mkdtempSync(join(tmpdir(), "surefoot-browser-"));
  const effectsFile = join(folder, "effects");
  const amountFile = join(folder, "amount");
  writeFileSync(amountFile, "5000");
  const environment = { [worldNames.amount]: amountFile, [worldNames.effects]: effectsFile };
  const notices: Notice[] = [];
  let runner: LocalRunner;
  try {
    runner = await startLocalRunner({
      folder,
      agents: ["review-anything", "review-briefly", "review-by-two"].map((name) => ({
        modulePath: agentModule(name),
        environment,
      })),
      onNotice: (notice) => notices.push(notice),
    });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  const actions = actionsOf(apiClient(runner.url));

  const ask = async (agent: string, name: string, input: object, before?: Asked): Promise<Asked> => {
    const runId = before?.runId ?? (await actions.start(agent, name, input));
    const told = () =>
      notices.filter(({ run_id, approval_id }) => run_id === runId && approval_id !== before?.approvalId);
    const found = await eventually(
      async () => told(),
      (some) => some.some(({ approver }) => approver === ann) && some.some(({ approver }) => approver === bob),
    );
    const approvalId = found[0]?.approval_id ?? "";
    return {
      runId,
      approvalId,
      page: `${runner.url}/approvals/${encodeURIComponent(approvalId)}`,
      linkOf(approver) {
        const notice = told().find((candidate) => candidate.approver === approver);
        if (!notice)
          throw new Error(
            `nobody sent ${approver} a link: told were ${told()
              .map((it) => it.approver)
              .join()}`,
          );
        return notice.link;
      },
    };
  };

  return {
    ...actions,
    url: runner.url,
    folder,
    notices,
    /** Has somebody asked to decide on this view. `name` is told apart by the other side. */
    ask: (name: string, view: ApprovalView = viewOf([])) => ask("review-anything", name, { name, view }),
    askTwo: (name: string) => ask("review-by-two", name, { name }),
    /** The same for seconds only. */
    askBriefly: (name: string) => ask("review-briefly", name, { name }),
    /** What is asked of the same run after `before`. */
    askedAgain: (before: Asked) => ask("", "", {}, before),
    setAmount: (cents: number) => writeFileSync(amountFile, String(cents)),
    /** What reached the other side, one line each. */
    effects: (): readonly string[] =>
      existsSync(effectsFile) ? readFileSync(effectsFile, "utf8").trimEnd().split("\n") : [],
    async stop() {
      await runner.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const viewOf = (fields: readonly ApprovalField[], over: Partial<ApprovalView> = {}): ApprovalView => ({
  title: "Refund for order ORD-1",
  fields: [payment, ...fields].sort(textLast),
  reason: "The kettle arrived broken, and the customer sent a picture of it.",
  on_approve: "The refund is sent to the payment provider once, and the customer gets a mail.",
  on_reject: "Nothing is sent; the agent plans again with your comment.",
  ...over,
});

const payment: ApprovalField = { type: "text", label: "Payment", text: "pi_1" };
const textLast = (a: ApprovalField, b: ApprovalField) => Number(a.type === "text") - Number(b.type === "text");

/** The place of a picture. */
export function picture(name: string): string {
  mkdirSync(pictures, { recursive: true });
  return join(pictures, `${name}.png`);
}
