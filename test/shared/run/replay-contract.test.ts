import { PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineAgent } from "../../../shared/index.ts";
import { resumeRun } from "../../../shared/run/resume-run.ts";
import { settleRun } from "../../../shared/run/settle-run.ts";
import { isWrite } from "../../builders/dynamo-proxy.ts";
import { localTables } from "../../builders/local-tables.ts";
import { faultOf } from "../../builders/operation-world.ts";
import { planPrompt, Ticket } from "../../builders/order-agent.ts";
import { runWorld } from "../../builders/run-world.ts";

const first = "plan+stock+review";
const Plan = z.object({ amountCents: z.number().int() });

const another = {
  "has no such node": defineAgent("order-agent", { version: 1, input: Ticket })
    .model("draft", { prompt: planPrompt, output: Plan })
    .end(),
  "has it as another kind": defineAgent("order-agent", { version: 1, input: Ticket })
    .compute("plan", { output: Plan, run: ({ input }) => ({ amountCents: input.amountCents }) })
    .end(),
  "has it with another prompt": defineAgent("order-agent", { version: 1, input: Ticket })
    .model("plan", { prompt: { ...planPrompt, text: "Plan something else." }, output: Plan })
    .end(),
  "has it with another output": defineAgent("order-agent", { version: 1, input: Ticket })
    .model("plan", { prompt: planPrompt, output: z.object({ cents: z.number() }) })
    .end(),
};

describe("a recorded step is not reused by a definition that", () => {
  const tables = localTables();

  it.each(Object.entries(another))("%s: nothing runs, and the run is parked with the reason", async (_what, agent) => {
    const world = await runWorld(tables);
    await faultOf(world.step(first, "0000.plan", { crash: { when: "after", call: "log.append" } }));
    world.clock.advance(1_000);
    const ledger = world.proxy.requests.filter(({ table }) => table === "ledger").length;

    const fault = await faultOf(world.step(first, "0000.plan", { agent }));
    expect(fault).toMatchObject({ name: "surefoot.final.plan", cause: { name: "ReplayContractError" } });
    expect(world.modelRequests).toHaveLength(1);
    expect(world.reads).toEqual([]);
    expect(world.proxy.requests.filter(({ table }) => table === "ledger")).toHaveLength(ledger);
    expect(await world.steps()).toEqual(["0000.plan → stock"]);
    expect(world.metrics.total("workflow_version_mismatch_total")).toBe(1);

    await settleRun(world.runId, `${world.runId}-1`, fault.name, world.ports);
    expect((await world.history()).run).toMatchObject({
      status: "PARKED",
      failure: { position: "0000.plan", node: "plan", error: { code: "replay_contract", failure_class: "final" } },
    });
  });

  it("and once the right code is back, the run goes on from its records", async () => {
    const world = await runWorld(tables);
    await faultOf(world.step(first, "0000.plan", { crash: { when: "after", call: "log.append" } }));
    await faultOf(world.step(first, "0000.plan", { agent: another["has no such node"] }));
    expect(await world.step(first, "0000.plan")).toMatchObject({ next: "place" });
    expect(world.modelRequests).toHaveLength(1);
  });

  it("cannot be told because the record is in a foreign shape: nothing runs either", async () => {
    const world = await runWorld(tables);
    await tables.client().send(
      new PutCommand({
        TableName: "runs",
        Item: { run_id: world.runId, item: "STEP#0000.plan", position: "0000.plan", node: "plan", kind: "oracle" },
      }),
    );
    const from = world.proxy.requests.length;
    expect(await faultOf(world.step(first, "0000.plan"))).toMatchObject({ name: "RecordCorrupt" });
    expect(world.modelRequests).toEqual([]);
    expect(world.proxy.requests.slice(from).filter(isWrite)).toEqual([]);

    await settleRun(world.runId, `${world.runId}-1`, "RecordCorrupt", world.ports);
    expect(await world.log.readRun(world.runId)).toMatchObject({
      status: "PARKED",
      failure: { node: "log", error: { code: "record_corrupt" } },
    });
    expect(world.metrics.total("checkpoint_restore_failure_total")).toBe(1);
  });

  it.each([2, 0, "one"])(
    "cannot be told because the log is in checkpoint schema %s: nothing runs, and the version that can read it is named",
    async (schema) => {
      const world = await runWorld(tables);
      await faultOf(world.step(first, "0000.plan", { crash: { when: "after", call: "log.append" } }));
      const inSchema = (found: unknown) =>
        tables.client().send(
          new UpdateCommand({
            TableName: "runs",
            Key: { run_id: world.runId, item: "RUN" },
            UpdateExpression: "SET checkpoint_schema_version = :found, workflow_version = :version",
            ExpressionAttributeValues: { ":found": found, ":version": 9 },
          }),
        );
      await inSchema(schema);
      const from = world.proxy.requests.length;
      expect(await faultOf(world.step(first, "0000.plan"))).toMatchObject({
        name: "RecordCorrupt",
        message: expect.stringMatching(
          /in checkpoint schema \S+, this code reads 1\. Nothing ran: version 9 of order-agent, which started it, can read it$/u,
        ),
      });
      expect(world.modelRequests).toHaveLength(1);
      expect(world.reads).toEqual([]);
      expect(world.proxy.requests.slice(from).filter(isWrite)).toEqual([]);
      expect(await faultOf(resumeRun(world.runId, world.ports))).toMatchObject({ name: "RecordCorrupt" });

      await inSchema(1);
      expect(await world.step(first, "0000.plan")).toMatchObject({ next: "place" });
      expect(world.modelRequests).toHaveLength(1);
    },
  );
});

describe("a branch on chance", () => {
  const tables = localTables();
  const Said = z.object({ by: z.string() });
  /** The coin falls anew each time that it is asked. */
  const chancy = (coin: () => "left" | "right") =>
    defineAgent("order-agent", { version: 1, input: Ticket })
      .route("coin", { to: ["left", "right"], choose: coin })
      .compute("left", { output: Said, run: () => ({ by: "left" }), then: "tell" })
      .compute("right", { output: Said, run: () => ({ by: "right" }), then: "tell" })
      .compute("tell", {
        output: z.object({ text: z.string() }),
        run: (state) => ({ text: Object.keys(state).join(" ") }),
      })
      .end();

  it.each(
    (["left", "right"] as const).flatMap((firstFall) =>
      (["before", "after"] as const).flatMap((when) =>
        [
          { line: "coin", nth: 1 },
          { line: "left+tell", nth: 1 },
          { line: "left+tell", nth: 2 },
          { line: "right", nth: 1 },
        ].map((where) => ({ firstFall, when, ...where })),
      ),
    ),
  )(
    "that falls $firstFall first, and a death $when record $nth of $line: it goes on with what was recorded, and no node gets another's result",
    async ({ firstFall, when, line, nth }) => {
      let asked = 0;
      const fall = () => ((asked++ % 2 === 0) === (firstFall === "left") ? ("left" as const) : ("right" as const));
      const world = await runWorld(tables, { agent: () => chancy(fall) });
      expect(await world.drive({ crash: { line, at: { when, call: "log.append", nth } } })).toBe("done");
      const { steps } = await world.history();
      const chosen = steps[0]!.next as "left" | "right";
      expect(steps.map(({ node }) => node)).toEqual(["coin", chosen, "tell"]);
      const state = await world.state();
      expect(state).toMatchObject({ coin: { chosen }, [chosen]: { by: chosen } });
      expect(state).toMatchObject({ tell: { text: `input coin ${chosen}` } });
      expect(asked).toBe(line === "coin" && when === "before" ? 2 : 1);
    },
  );
});
