import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Waiter } from "../../../shared/waiter/waiter.ts";
import { localTables } from "../../builders/local-tables.ts";
import { ann, openPage, type ReviewWorld, reviewWorld } from "../review-world.ts";

const tables = localTables();
const at = "2026-09-02T13:00:00.000Z";
let world: ReviewWorld;
let asked: Awaited<ReturnType<ReviewWorld["ask"]>>;

beforeAll(() => {
  world = reviewWorld(tables);
});
beforeEach(async () => {
  asked = await world.ask();
});

const decide = (decision: "approve" | "reject", comment: string) =>
  world.post(asked.path, { decision, by: ann, comment });
const pageOf = async (id: string) =>
  (await openPage(world.apps.read, `/approvals/${encodeURIComponent(id)}`)).text.replaceAll(/\s+/gu, " ");

/** The same run asks once more, behind the first question. */
async function askMore(over: Partial<Waiter> = {}): Promise<string> {
  const waiter = { ...asked.waiter, position: "0003.review" as Waiter["position"], write_id: "asked-again", ...over };
  await world.log.putWaiter(waiter);
  return `${asked.runId}:${waiter.position}`;
}

describe("an approval that counts no more", () => {
  test("says why, who had approved it, that nothing was sent, and where it is asked now", async () => {
    await decide("approve", "looks right");
    await world.log.supersede(asked.waiter, { reason: "snapshot_changed", comment: "changed: status", at });
    const again = await askMore();
    const page = await pageOf(asked.approvalId);

    expect(page).toContain("<strong>Replaced</strong>");
    expect(page).toContain("the data it relied on has changed (<bdi>changed: status</bdi>)");
    expect(page).toContain("Nothing was sent on this approval");
    expect(page).toContain(`<bdi>${ann}</bdi> had approved it`);
    expect(page).toContain("looks right");
    expect(page).toContain(`<a href="/approvals/${encodeURIComponent(again)}">Open what is asked now</a>`);
    expect(page).not.toContain("<form");
  });

  test.each([
    ["digest_changed", "what would be sent is no longer what was shown"],
    ["version_changed", "the agent has been changed since"],
    ["expired", "its time was over before anything could be sent"],
    ["precondition_failed", "the check right before sending did not pass"],
  ] as const)("says %s in words, whether or not anybody had decided", async (reason, words) => {
    await world.log.supersede(asked.waiter, { reason, at });
    const page = await pageOf(asked.approvalId);
    expect(page).toContain(words);
    expect(page).not.toContain(reason);
    expect(page).not.toContain("had approved");
  });
});

describe("an approval that is asked again", () => {
  test("shows what was approved before, and why that no longer counts", async () => {
    await decide("approve", "looks right");
    await world.log.supersede(asked.waiter, { reason: "precondition_failed", comment: "the limit is 400", at });
    const page = await pageOf(await askMore());

    expect(page).toContain("What changed since it was approved");
    expect(page).toContain(
      "That no longer counts: the check right before sending did not pass (<bdi>the limit is 400</bdi>).",
    );
    expect(page).toContain("Nothing that is shown differs.");
    expect(page).toContain("<form");
  });

  test("after a no shows the reviewer's words, and what was made of them", async () => {
    await decide("reject", "half of it, please");
    const page = await pageOf(await askMore());

    expect(page).toContain("What changed since it was rejected");
    expect(page).toContain("half of it, please");
    expect(page).not.toContain("no longer counts");
  });

  test("by another node of the same write is a question of its own, about which nothing was decided", async () => {
    await decide("approve", "legal says yes");
    const page = await pageOf(await askMore({ node: "finance", position: "0003.finance" as Waiter["position"] }));

    expect(page).not.toContain("What changed");
    expect(page).not.toContain("legal says yes");
  });
});

describe("the comment on a no", () => {
  const hint = "If you reject, the agent reads it and goes on with it.";

  test("is promised to the agent where the run goes on with it, and nowhere else", async () => {
    expect(asked.waiter.routes["rejected"]).toBe("end");
    expect(await pageOf(asked.approvalId)).not.toContain(hint);
    const goesOn = await askMore({ routes: { ...asked.waiter.routes, rejected: "plan" } });
    expect(await pageOf(goesOn)).toContain(hint);
  });
});
