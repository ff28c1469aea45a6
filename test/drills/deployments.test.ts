import { afterAll, expect, test } from "vitest";
import { prepareDeployments } from "../e2e/deployments.ts";
import { slowMs } from "../e2e/stage.ts";

const deploymentsCount = 25;
/** Each bundles every function and starts a runner: seconds on two quiet cores. */
const deploymentMs = 30_000;

const deployments = prepareDeployments();
afterAll(() => deployments.stop(), slowMs);

test(
  "an approval that waits over twenty-five deployments is the same one, and its run ends on the version it began with",
  async () => {
    await deployments.deploy(7);
    const runId = await deployments.api.start("released", "T-7", { order: "ORD-7", amountCents: 900 });
    const asked = await deployments.api.asked(runId);
    for (let version = 8; version < 8 + deploymentsCount; version++) {
      await deployments.deploy(version);
      expect(deployments.resumed).toEqual([runId]);
    }
    expect(await deployments.api.asked(runId)).toEqual(asked);
    await deployments.api.approve(asked);
    const run = await deployments.api.ended(runId);
    expect(run).toMatchObject({ status: "SUCCEEDED", workflow_version: 7 });
    expect(run.steps.find(({ node }) => node === "notify")?.output).toEqual({ text: "done by 7" });
    expect(deployments.effects()).toEqual(["ORD-7 900 by 7"]);
  },
  slowMs + deploymentsCount * deploymentMs,
);
