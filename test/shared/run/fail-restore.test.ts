import { describe, expect, it } from "vitest";
import { RecordCorrupt, ReplayContractError } from "../../../shared/faults/faults.ts";
import { failRestore } from "../../../shared/run/fail-restore.ts";
import { positionAt } from "../../../shared/runlog/position.ts";
import { localTables } from "../../builders/local-tables.ts";
import { runWorld } from "../../builders/run-world.ts";

describe("a log that is not continued", () => {
  const tables = localTables();
  const at = positionAt(0, "plan");

  it("because storage failed is no fault of the log: nothing is recorded, and the error goes on to be repeated", async () => {
    const world = await runWorld(tables);
    const error = new Error("socket hang up");
    expect(await failRestore(world.run, at, error, world.ports)).toBe(error);
    expect((await world.history()).failures).toEqual([]);
    expect(world.metrics.total("checkpoint_restore_failure_total")).toBe(0);
  });

  it.each([
    [
      new RecordCorrupt("step 0000.plan", "it has no kind"),
      "checkpoint_restore_failure_total",
      "record_corrupt",
    ] as const,
    [
      new ReplayContractError("r-1", "0000.plan", "another kind"),
      "workflow_version_mismatch_total",
      "replay_contract",
    ] as const,
  ])("because of what it holds is recorded with the reason, and counted: %s", async (error, metric, code) => {
    const world = await runWorld(tables);
    expect(await failRestore(world.run, at, error, world.ports)).toMatchObject({ name: "surefoot.final.plan" });
    expect((await world.history()).failures).toMatchObject([{ position: at, error: { code } }]);
    expect(world.metrics.total(metric)).toBe(1);
  });
});
