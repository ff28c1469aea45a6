import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { HeadBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { Approvals, Forked, Runs } from "../../infra/cli/api-shapes.ts";
import { Versions } from "../../infra/cli/release-shapes.ts";
import { type RefundWorld, startRefundWorld } from "../../infra/local/refund-world.ts";
import { refundEnvNames } from "../../lambdas/agents/refund-agent/settings.ts";
import refundAgent from "../../lambdas/agents/refund-agent/agent.ts";
import { contractDigest } from "../../shared/contract/manifest.ts";
import { actionsOf, mailEffects, paymentOf, paymentsEffects, seedPayment, ticketFor } from "../e2e/stage.ts";
import { type Cdk, cdkFor } from "./cdk.ts";
import { describeDeployed } from "./describe-deployed.ts";
import { errorLines } from "./function-logs.ts";
import { account, type Emulator, region } from "./emulator.ts";
import { callersOf, fire, rulesOf, targetsOf } from "./schedule.ts";
import { hostOf, signedApi } from "./signed-api.ts";
import { send } from "./signed-request.ts";
import { deploy, flagsOf, type Outputs, sdkSettings } from "./stage.ts";

/** A synthesis bundles every function: a quarter of a minute, and minutes where others load the machine. */
const deployMsMax = 8 * 60_000;
const agent = "refund-agent";

const SweepReport = z.object({
  looked: z.number(),
  deeds: z.record(z.string(), z.number()),
  errors: z.number(),
  finished: z.boolean(),
});

describeDeployed("the shipped stack, deployed with `cdk deploy`", (startEmulator) => {
  let emulator: Emulator;
  let cdk: Cdk;
  let world: RefundWorld;
  let dev: Outputs;
  const stops: (() => Promise<void>)[] = [];

  const settings = (stage: string, more: Readonly<Record<string, string>> = {}) => ({
    stage,
    environment: { ...world.environment, ...more },
  });
  const api = (stack: Outputs) => actionsOf(signedApi(emulator, stack.ApiUrl));
  const startRefund = async (stack: Outputs, name: string) => {
    await seedPayment(world.payments.control, name);
    return api(stack).start(agent, `TICKET-${name}`, ticketFor(name, 6_000));
  };
  /** What the payments server and the mailbox hold of one ticket. */
  const effectsOf = async (name: string) => {
    const { messages } = await mailEffects(world);
    const { customerEmail } = ticketFor(name, 0);
    return {
      refunds: (await paymentsEffects(world)).by_payment[paymentOf(name)]?.count ?? 0,
      mailsFrom: messages.filter(({ to }) => to.includes(customerEmail)).map(({ from }) => from),
    };
  };

  beforeAll(async () => {
    world = await startRefundWorld();
    stops.push(() => world.stop());
    emulator = await startEmulator();
    stops.push(() => emulator.stop());
    cdk = cdkFor(emulator);
    stops.push(() => cdk.stop());
  }, deployMsMax);
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
  });
  afterEach(async ({ task }) => {
    if (task.result?.state !== "fail") return;
    const errors = (await errorLines(emulator, "surefoot-dev")).join("\n");
    console.error(`The functions' errors:\n${errors}\nThe emulator's last lines:\n${emulator.lastLines()}`);
  });

  test(
    "deploys as it ships into an account that was just bootstrapped",
    async () => {
      await cdk.bootstrap(`aws://${account}/${region}`);
      dev = await deploy(cdk, emulator, settings("dev"));
      expect(dev.RunsTableName).toMatch(/^surefoot-dev-/u);
    },
    deployMsMax,
  );

  test("says which version of its agent was released, and that no run is on it yet", async () => {
    const raw = await api(dev).api.get(`/releases?agent=${agent}`);
    const [known, ...others] = Versions.parse(raw).agents;
    expect(others).toEqual([]);
    expect(known).toMatchObject({ agent, live_version: 1, versions: [{ live: true, open_runs: { total: 0 } }] });
    expect(raw).toMatchObject({
      agents: [{ versions: [{ releases: [{ contract_digest: contractDigest(refundAgent) }] }] }],
    });
  });

  test("refuses whoever does not sign", async () => {
    const asked = { service: "execute-api", host: hostOf(dev.ApiUrl), path: "/runs" } as const;
    expect((await send(emulator, { ...asked, signed: false })).status).toBe(403);
    expect((await send(emulator, asked)).status).toBe(200);
  });

  test(
    "a refund that needs review waits, is approved over HTTP, and leaves one refund and one mail, sent by the queue's worker",
    async () => {
      const runId = await startRefund(dev, "FIRST");
      const approval = await api(dev).asked(runId);
      expect(approval.view.title).toBe("Refund for order ORD-FIRST");
      expect((await paymentsEffects(world)).refunds).toBe(0);

      await api(dev).approve(approval);
      const run = await api(dev).ended(runId);
      expect(run.status).toBe("SUCCEEDED");
      const answer = run.steps.find(({ kind }) => kind === "approval")?.output;
      expect(answer).toMatchObject({ outcome: "approved", known_by: "iam", by: `arn:aws:iam::${account}:root` });
      expect((await paymentsEffects(world)).refunds).toBe(1);
      expect((await mailEffects(world)).emails).toBe(1);
      expect(run.waiters.map(({ kind, status }) => [kind, status])).toEqual([
        ["approval", "ANSWERED"],
        ["delivery", "ANSWERED"],
      ]);
      expect(Approvals.parse(await api(dev).api.get("/approvals")).approvals).toEqual([]);
    },
    deployMsMax,
  );

  test(
    "the one schedule calls a function that lets it, and that sweeps what waits without an error or a change",
    async () => {
      const lambda = new LambdaClient(sdkSettings(emulator));
      const [rule, ...others] = await rulesOf(emulator, "surefoot-dev");
      expect(rule).toMatchObject({ State: "ENABLED", ScheduleExpression: "rate(5 minutes)" });
      const [target, ...otherTargets] = await targetsOf(emulator, rule!);
      expect([...others, ...otherTargets]).toEqual([]);
      expect(await callersOf(lambda, target!)).toEqual([
        ["Allow", "events.amazonaws.com", "lambda:InvokeFunction", { ArnLike: { "AWS:SourceArn": rule!.Arn } }],
      ]);

      const runId = await startRefund(dev, "SWEPT");
      const approval = await api(dev).asked(runId);
      const report = SweepReport.parse(await fire(lambda, rule!, target!));
      expect(report).toMatchObject({ errors: 0, finished: true, deeds: { nothing: report.looked } });
      expect(report.looked).toBeGreaterThan(0);
      await api(dev).approve(approval);
      expect((await api(dev).ended(runId)).status).toBe("SUCCEEDED");
      expect(await effectsOf("SWEPT")).toEqual({ refunds: 1, mailsFrom: ["refunds@example.com"] });
    },
    deployMsMax,
  );

  test(
    "a diff right after it finds nothing, so that equal sources are never a deployment",
    async () => {
      const { code, output } = await cdk.run(["diff", "--fail", ...flagsOf(emulator, settings("dev"))]);
      expect(output).toContain("Number of stacks with differences: 0");
      expect(code).toBe(0);
    },
    deployMsMax,
  );

  test(
    "a run that waits over a deployment ends on the function it began with, and the next run has the new one",
    async () => {
      const before = await startRefund(dev, "BEFORE");
      const askedBefore = await api(dev).asked(before);
      await deploy(cdk, emulator, settings("dev", { [refundEnvNames.mailFrom]: "changed@example.com" }));
      const after = await startRefund(dev, "AFTER");

      await api(dev).approve(await api(dev).asked(after));
      await api(dev).approve(askedBefore);
      expect((await api(dev).ended(after)).status).toBe("SUCCEEDED");
      expect((await api(dev).ended(before)).status).toBe("SUCCEEDED");
      expect(await effectsOf("BEFORE")).toEqual({ refunds: 1, mailsFrom: ["refunds@example.com"] });
      expect(await effectsOf("AFTER")).toEqual({ refunds: 1, mailsFrom: ["changed@example.com"] });

      // A fork of what has ended goes the same way once more, and reaches nobody.
      const { position } = (await api(dev).run(before)).steps.find(({ node }) => node === "refund")!;
      const { body } = await api(dev).api.post(`/runs/${before}/fork`, { at: position }, [201]);
      const forked = await api(dev).ended(Forked.parse(body).run_id);
      expect(forked).toMatchObject({ status: "SUCCEEDED", simulated: true });
      expect(await effectsOf("BEFORE")).toEqual({ refunds: 1, mailsFrom: ["refunds@example.com"] });
    },
    deployMsMax,
  );

  test(
    "a deployment that takes an agent away is refused while a run of it waits, and the run still ends",
    async () => {
      const runId = await startRefund(dev, "KEPT");
      const approval = await api(dev).asked(runId);
      const without = ["--app", "npx tsx test/deploy/spare-app.ts", ...flagsOf(emulator, settings("dev"))];
      const { code, output } = await cdk.run(["deploy", "--require-approval", "never", ...without]);
      expect(output.replaceAll(/\s+/gu, " ")).toContain(`${agent} has 1 open run (1 of version 1): ${runId}`);
      expect(code).toBe(1);

      await api(dev).approve(approval);
      expect((await api(dev).ended(runId)).status).toBe("SUCCEEDED");
      expect((await effectsOf("KEPT")).refunds).toBe(1);
      const versions = Versions.parse(await api(dev).api.get("/releases")).agents;
      expect(versions.map((known) => [known.agent, known.live_version])).toEqual([[agent, 1]]);
    },
    deployMsMax,
  );

  test(
    "a second stage stands beside the first, and destroying it leaves the first alone and its own data where they are",
    async () => {
      const runs = async (stack: Outputs) => Runs.parse(await api(stack).api.get("/runs")).runs;
      const runsOfDev = await runs(dev);
      const other = await deploy(cdk, emulator, settings("other"));
      expect(await runs(other)).toEqual([]);

      await cdk.succeed(["destroy", "--force", ...flagsOf(emulator, settings("other"))]);
      const gone = await send(emulator, { service: "execute-api", host: hostOf(other.ApiUrl), path: "/runs" });
      expect(gone.status).not.toBe(200);
      expect(await runs(dev)).toEqual(runsOfDev);
      expect(await errorLines(emulator, "surefoot-dev")).toEqual([]);

      const dynamo = new DynamoDBClient(sdkSettings(emulator));
      for (const table of [other.RunsTableName, other.LedgerTableName]) {
        const { Table } = await dynamo.send(new DescribeTableCommand({ TableName: table }));
        expect(Table?.TableStatus).toBe("ACTIVE");
        expect(other.KeptAfterDestroy).toContain(`delete-table --table-name ${table}`);
      }
      await new S3Client(sdkSettings(emulator)).send(new HeadBucketCommand({ Bucket: other.PayloadsBucketName }));
      expect(other.KeptAfterDestroy).toContain(`s3://${other.PayloadsBucketName}`);
    },
    deployMsMax,
  );
});
