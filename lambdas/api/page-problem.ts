import type { Hono } from "hono";
import { isFault } from "../../shared/faults/fault.ts";
import { BadRequest } from "../../shared/faults/faults.ts";
import type { Clock } from "../../shared/ports/clock.ts";
import type { Logger } from "../../shared/ports/logger.ts";
import { messagePage } from "../pages/message-page.ts";
import { type Page, sendPage } from "../pages/page.ts";
import { framesOf } from "./problem.ts";
import { LinkRefused, sendRefusedLink } from "./refused-link.ts";

/** Why a decision was not taken, for a person who cannot read codes. */
const refusals: Readonly<Record<string, { readonly title: string; readonly paragraphs: readonly string[] }>> = {
  cross_site: {
    title: "Nothing was decided",
    paragraphs: [
      "This decision did not come from the approval’s own page, so it does not count.",
      "Open the approval again and use the buttons there.",
    ],
  },
  not_a_form: { title: "Nothing was decided", paragraphs: ["Open the approval and use the buttons there."] },
  invalid_request: {
    title: "Nothing was decided",
    paragraphs: ["Something in the form is missing or too long. Go back, and choose Approve or Reject again."],
  },
  unknown_approval: {
    title: "There is no such approval",
    paragraphs: ["Its address is incomplete, or it belongs to another system."],
  },
  digest_changed: {
    title: "Look again: this has changed",
    paragraphs: ["What is asked is no longer what you saw. Nothing was decided. Open the approval again."],
  },
  superseded: {
    title: "This question has been replaced",
    paragraphs: [
      "What was asked has changed since, and it is asked anew. Nothing was decided, and nothing is sent on this one.",
    ],
  },
  version_retired: {
    title: "Nothing can be decided now",
    paragraphs: [
      "This task runs on a version that was withdrawn. Nothing was decided, and nothing is sent.",
      "An operator has to move it to another version. If it is still wanted then, you are asked again.",
    ],
  },
  run_ended: {
    title: "Nobody need decide any more",
    paragraphs: ["The task this belongs to has ended. Nothing was decided, and nothing is sent."],
  },
  not_an_approver: {
    title: "Somebody else decides this",
    paragraphs: ["You are not among those who may decide this approval. Nothing was decided."],
  },
  requester_excluded: {
    title: "Somebody else decides this",
    paragraphs: ["You started this task, and whoever started it may not approve it. Nothing was decided."],
  },
  requester_unknown: {
    title: "Nobody may decide this",
    paragraphs: [
      "Whoever started this task may not decide it, and nobody knows who that was. Nothing was decided.",
      "Ask an operator to withdraw it and to start the task again in somebody’s name.",
    ],
  },
};

/** The page for a refusal by its code. What nobody wrote a page for is shown in its own words. */
function refusalPage(error: BadRequest, inbox?: string): Page {
  const known = refusals[error.code];
  return messagePage(known?.title ?? "Nothing was decided", known?.paragraphs ?? [error.message], inbox);
}

export interface PageProblemPorts {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Where the list of approvals lies, for readers who may see it. */
  readonly inbox?: string;
}

/** Every refusal and failure of a hono app as a page. Addresses are never logged: a link is a secret. */
export function refuseAsPages(app: Hono, { inbox, ...ports }: PageProblemPorts): void {
  app.notFound((c) => sendPage(c, 404, messagePage("There is no such page", ["Check the address."], inbox)));
  app.onError((error, c) => {
    if (error instanceof LinkRefused) return sendRefusedLink(c, error, ports);
    if (error instanceof BadRequest) {
      ports.logger.info("page refused", { code: error.code });
      return sendPage(c, error.status, refusalPage(error, inbox));
    }
    const code = isFault(error) ? error.code : error.name;
    ports.logger.error("page failed", { code, method: c.req.method, where: framesOf(error) });
    const text = "This page cannot be shown right now. Nothing was changed by opening it. Try again in a minute.";
    return sendPage(c, 503, messagePage("Try again", [text], inbox));
  });
}
