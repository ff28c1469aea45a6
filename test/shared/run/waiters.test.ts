import { describe, expect, it } from "vitest";
import { answerApproval } from "../../../shared/run/answer-waiter.ts";
import { expireWait } from "../../../shared/run/wait-run.ts";
import { localTables } from "../../builders/local-tables.ts";
import { faultOf } from "../../builders/operation-world.ts";
import { decision, runWorld } from "../../builders/run-world.ts";

const first = "plan+stock+review";
const second = "place+tally";

describe("a waiter", () => {
  const tables = localTables();

  /** A run that has asked; nobody waits yet. */
  async function asked() {
    const world = await runWorld(tables, { amountCents: 9_900 });
    await world.step(first, "0000.plan");
    return world;
  }

  it("gives fifty decisions at once one winner, and every one of them sees it", async () => {
    const world = await asked();
    await world.wait(first, "token-1");
    const waiter = await world.waiter();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        answerApproval(
          waiter,
          { ...decision(waiter, world.clock.nowMs(), n % 2 === 0 ? "approved" : "rejected"), by: `person-${n}` },
          world.ports,
        ),
      ),
    );

    const winners = answers.filter(({ mine }) => mine);
    expect(winners).toHaveLength(1);
    expect(new Set(answers.map(({ outcome }) => JSON.stringify(outcome)))).toEqual(
      new Set([JSON.stringify(winners[0]?.outcome)]),
    );
    expect(answers.filter(({ wake }) => wake === "woken")).toHaveLength(1);
    expect(answers.filter(({ wake }) => wake === "gone" || wake === "told_before")).toHaveLength(49);
    expect(world.metrics.added.filter(({ name }) => name === "approval_wait_seconds")).toHaveLength(1);
    const { steps, waiters } = await world.history();
    expect(steps.filter(({ node }) => node === "review")).toHaveLength(1);
    expect(waiters).toMatchObject([{ status: "ANSWERED" }]);
  });

  it("that was answered before anybody waits wakes whoever comes", async () => {
    const world = await asked();
    expect(await world.answer("approved")).toMatchObject({ mine: true, wake: "waiting" });
    expect(await world.wait(first, "token-1")).toBe("succeeded");
    await world.step(second, "0002.review");
    expect(world.downstream.effects).toHaveLength(1);
  });

  it("that was refused before anybody waits says so to whoever comes", async () => {
    const world = await asked();
    await world.answer("rejected");
    expect(await world.wait(first, "token-1")).toBe("surefoot.rejected");
  });

  it.each(["log.registerToken", "log.change"] as const)(
    "that is answered while its token is registered (%s) loses no wake-up",
    async (call) => {
      const world = await asked();
      // The answer is complete between the two writes of whoever waits.
      const match = call === "log.change" ? "RUN" : "WAIT#0002.review";
      world.proxy.on(
        ({ operation, item }) => operation === "UpdateItem" && item["item"] === match && item["run_id"] === world.runId,
        { before: async () => void (await world.answer("approved")) },
      );
      expect(await world.wait(first, "token-1")).toBe("succeeded");
    },
  );

  it("wakes again when its wake-up was lost and the same answer is given again", async () => {
    const world = await asked();
    await world.wait(first, "token-1");
    const waiter = await world.waiter();
    const yes = decision(waiter, world.clock.nowMs(), "approved");
    const broken = {
      ...world.ports,
      waker: { ...world.ports.waker, succeed: () => Promise.reject(new Error("lost")) },
    };
    await expect(answerApproval(waiter, yes, broken)).rejects.toThrow("lost");
    expect(world.tokens.get("token-1")).toBe("open");

    expect(await answerApproval(waiter, yes, world.ports)).toMatchObject({ mine: false, wake: "woken", outcome: yes });
    expect(world.tokens.get("token-1")).toBe("succeeded");
    expect((await world.history()).steps.filter(({ node }) => node === "review")).toHaveLength(1);
  });

  it("belongs to the newest execution: a stale one may not leave its token", async () => {
    const world = await asked();
    await world.wait(first, "token-1");
    await world.log.change(world.run, ["WAITING"], {
      status: "RUNNING",
      execution: `${world.runId}-2`,
      execution_attempt: 2,
    });
    expect(await faultOf(world.wait(first, "token-late"))).toMatchObject({ name: "surefoot.stale" });
    expect((await world.waiter()).task_token).toBe("token-1");

    await world.step(first, "0000.plan", { execution: `${world.runId}-2` });
    expect(await world.wait(first, "token-2", `${world.runId}-2`)).toBe("open");
    expect((await world.waiter()).task_token).toBe("token-2");
    expect(await world.log.registerToken(world.runId, (await world.waiter()).position, "token-1", 1)).toBe(false);
    await world.answer("approved");
    expect(world.tokens.get("token-2")).toBe("succeeded");
    expect(world.tokens.get("token-1")).toBe("open");
  });

  it("takes a token whose acknowledgement was lost once", async () => {
    const world = await asked();
    world.proxy.on(({ values }) => values[":token"] === "token-1", { answer: "lose" });
    expect(await world.wait(first, "token-1")).toBe("open");
    expect(await world.answer("approved")).toMatchObject({ wake: "woken" });
  });

  it("that nobody answered expires, and its route is the run's end", async () => {
    const world = await asked();
    await world.wait(first, "token-1");
    world.clock.advance(7 * 24 * 3_600_000 + 1);
    const exit = await expireWait({ runId: world.runId, line: first, execution: `${world.runId}-1` }, world.ports);
    expect(exit).toEqual({ run_id: world.runId, position: "0002.review", next: "end" });
    expect(world.metrics.total("waiter_overdue_total")).toBe(1);
    expect(await world.step(first, "0002.review")).toMatchObject({ next: "end" });
    expect((await world.history()).run).toMatchObject({ status: "SUCCEEDED", outcome: "expired" });
    expect(world.downstream.requests).toEqual([]);
  });

  it("lets the log decide between an expiry and a late click, whoever is first", async () => {
    for (const clickFirst of [true, false]) {
      const world = await asked();
      await world.wait(first, "token-1");
      const entry = { runId: world.runId, line: first, execution: `${world.runId}-1` };
      if (clickFirst) {
        await world.answer("approved");
        expect(await expireWait(entry, world.ports)).toMatchObject({ next: "place" });
        expect(world.metrics.total("waiter_overdue_total")).toBe(0);
      } else {
        expect(await expireWait(entry, world.ports)).toMatchObject({ next: "end" });
        expect(await world.answer("approved")).toMatchObject({ mine: false, outcome: { outcome: "expired" } });
      }
    }
  });

  it("gives an expiry and a click at once the same outcome", async () => {
    const world = await asked();
    await world.wait(first, "token-1");
    const entry = { runId: world.runId, line: first, execution: `${world.runId}-1` };
    const [exit, answer] = await Promise.all([expireWait(entry, world.ports), world.answer("approved")]);
    expect(exit.next).toBe(answer.outcome.outcome === "approved" ? "place" : "end");
    expect(answer.mine).toBe(answer.outcome.outcome === "approved");
  });

  it("keeps its token out of every listing", async () => {
    const world = await asked();
    await world.wait(first, "token-1");
    const listed = (await world.log.listOpenWaiters()).find(({ run_id }) => run_id === world.runId);
    expect(listed).toMatchObject({ position: "0002.review", kind: "approval" });
    expect(listed?.task_token).toBeUndefined();
    await world.answer("approved");
    expect((await world.log.listOpenWaiters()).some(({ run_id }) => run_id === world.runId)).toBe(false);
    expect(JSON.stringify(world.logger.lines)).not.toContain("token-1");
  });
});
