import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Run } from "../../infra/cli/api-shapes.ts";
import { type Deployments, prepareDeployments } from "./deployments.ts";
import { slowMs } from "./stage.ts";

const ticket = { order: "ORD-1", amountCents: 900 };
let deployments: Deployments;
beforeEach(() => {
  deployments = prepareDeployments();
});
afterEach(() => deployments.stop(), slowMs);

/** A run of version 7 that waits for its approval, when version 8 was deployed. */
async function waitingUnderEight(migrates: boolean): Promise<string> {
  await deployments.deploy(7);
  const runId = await deployments.api.start("released", "T-1", ticket);
  await deployments.api.asked(runId);
  await deployments.deploy(8, migrates);
  expect(deployments.resumed).toEqual([runId]);
  return runId;
}
const resume = (runId: string, body: object) =>
  deployments.api.api.post(`/runs/${runId}/resume`, { by: "kim", ...body });
const outputOf = (run: Run, node: string) => run.steps.find((step) => step.node === node)?.output;

test(
  "a run that waits for approval while version 8 inserts risk_check ends on version 7; it is not moved without a migration",
  async () => {
    const runId = await waitingUnderEight(false);
    const refused = await resume(runId, { version: 8 }).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: "version_incompatible",
      message: expect.stringMatching(/they have skipped risk_check.*ends on version 7.*Nothing was changed/u) as string,
    });
    await deployments.api.approve(await deployments.api.asked(runId));
    const run = await deployments.api.ended(runId);
    expect(run).toMatchObject({ status: "SUCCEEDED", workflow_version: 7 });
    expect(outputOf(run, "notify")).toEqual({ text: "done by 7" });
    expect(deployments.effects()).toEqual(["ORD-1 900 by 7"]);

    // What starts now is of version 8.
    const next = await deployments.api.start("released", "T-2", { ...ticket, order: "ORD-2" });
    await deployments.api.approve(await deployments.api.asked(next));
    expect(await deployments.api.ended(next)).toMatchObject({ status: "SUCCEEDED", workflow_version: 8 });
    expect(deployments.effects()).toEqual(["ORD-1 900 by 7", "ORD-2 900 by 8"]);
  },
  slowMs,
);

test(
  "with a migration it is moved on request: it passes risk_check on the migrated state, and its approval is asked for again",
  async () => {
    const runId = await waitingUnderEight(true);
    const before = await deployments.api.asked(runId);
    const { body } = await resume(runId, { version: 8 });
    expect(body).toMatchObject({ to_version: 8, verdict: "migrate", asks_again: true });
    const again = await deployments.api.asked(runId, before);
    expect(again.view.fields).toMatchObject([{ amount_cents: 1_000 }]);
    await expect(deployments.api.approve(before)).rejects.toMatchObject({ code: "superseded" });
    await deployments.api.approve(again);
    const run = await deployments.api.ended(runId);
    expect(run).toMatchObject({ status: "SUCCEEDED", workflow_version: 8 });
    expect(outputOf(run, "risk_check")).toEqual({ by: 8 });
    expect(deployments.effects()).toEqual(["ORD-1 1000 by 8"]);
  },
  slowMs,
);

test(
  "a run whose version was deleted is parked with what can be done, and goes on under another one that may take it",
  async () => {
    await deployments.deploy(7);
    const runId = await deployments.api.start("released", "T-1", ticket);
    const before = await deployments.api.asked(runId);
    rmSync(join(deployments.folder, "runner", "releases", "released", "1"), { recursive: true });
    await deployments.deploy(8, true);
    const parked = await deployments.api.until(runId, ["PARKED"]);
    expect(parked.failure).toMatchObject({
      error: { code: "version_missing" },
      next_move: expect.stringMatching(/^choose: .*surefoot resume .* --version/u) as string,
    });
    await resume(runId, { version: 8 });
    await deployments.api.approve(await deployments.api.asked(runId, before));
    expect(await deployments.api.ended(runId)).toMatchObject({ status: "SUCCEEDED", workflow_version: 8 });
    expect(deployments.effects()).toEqual(["ORD-1 1000 by 8"]);
  },
  slowMs,
);
