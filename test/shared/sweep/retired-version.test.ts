import { describe, expect, it } from "vitest";
import { localTables } from "../../builders/local-tables.ts";
import { sweepWorld } from "../../builders/sweep-world.ts";

const retirement = { at: "2026-09-02T12:00:00.000Z", by: "kim", reason: "sends the wrong amount" };

describe("a sweep, when a version was retired and a run of it was missed", () => {
  const tables = localTables();

  it("marks the run once, and keeps what it waits for", async () => {
    const world = await sweepWorld(tables, { approval: true });
    await world.go();
    const { run: before } = await world.history();
    for (const version of [1, 2]) {
      await world.releases.keep({
        agent: "order-agent",
        workflow_version: version,
        contract_digest: String(version).repeat(64),
        state_machine_arn: `arn:${version}`,
        released_at: `2026-09-0${version}T00:00:00.000Z`,
      });
    }
    expect((await world.sweep()).deeds).toEqual({ nothing: 3 });

    await world.releases.retire("order-agent", 1, retirement);
    expect((await world.sweep()).deeds).toEqual({ nothing: 2, retired: 1 });
    const { run } = await world.history();
    expect(run).toMatchObject({ status: "WAITING", retired: { ...retirement, workflow_version: 1 } });
    expect(run.waiting_for).toBe(before.waiting_for);
    expect(run.execution).toBe(before.execution);
    expect((await world.sweep()).deeds).toEqual({ nothing: 3 });
  });

  it("marks it whoever dies on the way, and never one that has moved to another version", async () => {
    const world = await sweepWorld(tables);
    const died = await world.sweep({ crash: { when: "before", call: "log.change" } });
    expect(died).toMatchObject({ errors: 1 });
    expect((await world.history()).run.retired).toBeUndefined();
    const { run } = await world.history();
    await world.log.change(run, ["RUNNING"], { status: "RUNNING", workflow_version: 2 });
    expect((await world.sweep()).deeds).toEqual({ nothing: 1 });
    expect((await world.history()).run.retired).toBeUndefined();
  });
});
