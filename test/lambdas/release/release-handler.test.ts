import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { SettingsError } from "../../../lambdas/env.ts";
import { createReleaseHandler } from "../../../lambdas/release/release-handler.ts";
import { contractDigest, manifestOf } from "../../../shared/contract/manifest.ts";
import { readContract } from "../../../shared/contract/kept-contract.ts";
import { type Agent, defineAgent } from "../../../shared/index.ts";
import { folderPayloadStore } from "../../../shared/payloads/folder-payload-store.ts";
import { dynamoReleases } from "../../../shared/release/dynamo-releases.ts";
import { startRun } from "../../../shared/run/start-run.ts";
import { Position } from "../../../shared/runlog/position.ts";
import type { Waiter } from "../../../shared/waiter/waiter.ts";
import { dynamoRunLog } from "../../../shared/runlog/dynamo-run-log.ts";
import { countingIds } from "../../builders/counting-ids.ts";
import { httpStub, type StubReply } from "../../builders/http-stub.ts";
import { localTables } from "../../builders/local-tables.ts";
import { ManualClock } from "../../builders/manual-clock.ts";
import { RecordingLogger } from "../../builders/recording-logger.ts";
import { RecordingMetrics } from "../../builders/recording-metrics.ts";

const tables = localTables();
const invocation = { getRemainingTimeInMillis: () => 120_000 };
const stackId = "arn:aws:cloudformation:eu-west-1:123456789012:stack/surefoot-dev/6c5e";
const arnOf = ({ name, version }: Agent) => `arn:aws:states:eu-west-1:123456789012:stateMachine:${name}:${version}`;

const simple = (name: string, version = 1) =>
  defineAgent(name, { version, input: z.unknown() })
    .compute("nothing", { output: z.null(), run: () => null })
    .end();

/** Nothing but a place that somebody is awaited at. */
const aWaiter = (runId: string): Waiter => ({
  run_id: runId,
  position: Position.parse("0000.nothing"),
  node: "nothing",
  agent: "given-up",
  workflow_id: "T-2",
  kind: "approval",
  status: "OPEN",
  line: "nothing",
  fingerprint: "f".repeat(64),
  routes: { approved: "$end" },
  subject: { json: "{}" },
  workflow_version: 1,
  risk: "low",
  requested_at: "2026-09-02T12:00:00.000Z",
  expires_at: "2026-09-03T12:00:00.000Z",
  write_id: "w1",
});

/** A stack whose deployments are told to one server, which answers as CloudFormation would. */
async function stack(reply: () => StubReply = () => ({})) {
  const cloudFormation = await httpStub(reply);
  const clock = new ManualClock();
  const ids = countingIds();
  const logger = new RecordingLogger();
  const client = tables.client();
  const ports = {
    clock,
    ids,
    logger,
    metrics: new RecordingMetrics(),
    payloads: folderPayloadStore(join(tables.folder(), "payloads")),
    log: dynamoRunLog({ client, table: "runs", clock, ids }),
    releases: dynamoReleases(client, "runs"),
    executions: { start: async () => undefined },
  };
  const propertiesOf = (agents: readonly Agent[], abandon: readonly string[] = []) => ({
    ServiceToken: "arn:aws:lambda:eu-west-1:123456789012:function:release",
    Agents: agents.map((agent) => ({
      Name: agent.name,
      // CloudFormation hands every value over as text.
      WorkflowVersion: String(agent.version),
      ContractDigest: contractDigest(agent),
      StateMachineArn: arnOf(agent),
    })),
    AbandonRuns: abandon,
  });
  const common = {
    ResponseURL: `${cloudFormation.url}/answer?Signature=secret`,
    StackId: stackId,
    RequestId: "request-1",
    LogicalResourceId: "Releases",
    ResourceType: "Custom::SurefootReleases",
  };
  const ask = async (bundled: readonly Agent[], event: object, wired = () => ports) => {
    await createReleaseHandler(bundled, wired)({ ...common, ...event }, invocation);
    const { method, headers, body } = cloudFormation.requests.at(-1) ?? { method: "", headers: {}, body: "{}" };
    expect(method).toBe("PUT");
    expect(headers["content-type"]).toBeUndefined();
    const answer = JSON.parse(body) as Readonly<Record<string, string>>;
    expect(answer).toMatchObject({ StackId: stackId, RequestId: "request-1", LogicalResourceId: "Releases" });
    return answer;
  };
  return {
    ...ports,
    cloudFormation,
    propertiesOf,
    ask,
    create: (agents: readonly Agent[], bundled = agents) =>
      ask(bundled, { RequestType: "Create", ResourceProperties: propertiesOf(agents) }),
    update: (from: readonly Agent[], to: readonly Agent[], abandon: readonly string[] = [], bundled = to) =>
      ask(bundled, {
        RequestType: "Update",
        PhysicalResourceId: "surefoot-releases",
        OldResourceProperties: propertiesOf(from),
        ResourceProperties: propertiesOf(to, abandon),
      }),
    remove: (agents: readonly Agent[], abandon: readonly string[] = [], id = "surefoot-releases") =>
      ask(agents, {
        RequestType: "Delete",
        PhysicalResourceId: id,
        ResourceProperties: propertiesOf(agents, abandon),
      }),
    start: async (agent: Agent, workflowId: string) => {
      const request = { workflowId, input: {}, allowNewRun: false };
      return (await startRun(agent, arnOf(agent), request, ports)).run.run_id;
    },
  };
}

describe("a deployment", () => {
  it("keeps what each of its agents runs and relies on, once, however often it is told", async () => {
    const { create, update, releases, clock, ...ports } = await stack();
    const [one, two] = [simple("kept-one"), simple("kept-two", 3)];
    expect(await create([one, two])).toMatchObject({ Status: "SUCCESS", PhysicalResourceId: "surefoot-releases" });
    const kept = [
      {
        agent: "kept-two",
        workflow_version: 3,
        contract_digest: contractDigest(two),
        state_machine_arn: "arn:aws:states:eu-west-1:123456789012:stateMachine:kept-two:3",
        released_at: "2026-09-02T12:00:00.000Z",
      },
    ];
    expect(await releases.list("kept-two")).toEqual(kept);
    expect(await readContract(contractDigest(one), ports)).toEqual(manifestOf(one));

    clock.advance(60_000);
    expect(await update([one, two], [one, two])).toMatchObject({
      Status: "SUCCESS",
      PhysicalResourceId: "surefoot-releases",
    });
    expect(await releases.list("kept-two")).toEqual(kept);
    await update([one, two], [one, simple("kept-two", 4)]);
    expect((await releases.list("kept-two")).map((release) => release.workflow_version)).toEqual([4, 3]);
  });

  it("fails where the bundled code has another contract than was synthesized, and says which", async () => {
    const { create, releases } = await stack();
    const synthesized = simple("differs", 2);
    const answer = await create([synthesized], [simple("differs", 1)]);
    expect(answer).toMatchObject({ Status: "FAILED", PhysicalResourceId: "surefoot-releases-not-created" });
    expect(answer["Reason"]).toContain(`expected the contract ${contractDigest(synthesized)} of differs in this code`);
    expect(await releases.list("differs")).toEqual([]);
  });

  it("that is rolled back is told of a contract that was kept before, by code that does not have it", async () => {
    const { create, update } = await stack();
    const [before, after] = [simple("rolled-back", 1), simple("rolled-back", 2)];
    await create([before]);
    expect(await update([after], [before], [], [after])).toMatchObject({ Status: "SUCCESS" });
  });

  it("of a version that was retired fails, and says by whom and why", async () => {
    const { create, update, releases } = await stack();
    const [v1, v2] = [simple("withdrawn", 1), simple("withdrawn", 2)];
    await create([v1]);
    await update([v1], [v2]);
    await releases.retire("withdrawn", 1, { at: "2026-09-03T00:00:00.000Z", by: "kim", reason: "leaks addresses" });
    const answer = await update([v2], [v1]);
    expect(answer["Status"]).toBe("FAILED");
    expect(answer["Reason"]).toBe(
      "version 1 of withdrawn was retired by kim at 2026-09-03T00:00:00.000Z (leaks addresses): deploy another version",
    );
  });
});

describe("a deployment that takes an agent away", () => {
  it("is refused while runs of it are open, and says how many, of which version, and what to do", async () => {
    const { create, update, start } = await stack();
    const [stays, goes] = [simple("stays"), simple("goes", 2)];
    await create([stays, goes]);
    await start(stays, "T-0");
    const runs = [await start(goes, "T-1"), await start(goes, "T-2"), await start(simple("goes", 1), "T-3")];
    const answer = await update([stays, goes], [stays]);
    expect(answer).toMatchObject({ Status: "FAILED", PhysicalResourceId: "surefoot-releases" });
    expect(answer["Reason"]).toMatch(/^goes has 3 open runs \(2 of version 2, 1 of version 1\): goes-20260902-/u);
    for (const run of runs) expect(answer["Reason"]).toContain(run);
    expect(answer["Reason"]).toContain("surefoot versions goes counts them");
    expect(answer["Reason"]).toContain("so nothing was removed. Let them end, or surefoot cancel <run>");
    expect(answer["Reason"]).toContain("cdk deploy -c surefoot:abandonRuns=goes");
  });

  it("goes through where somebody gave its runs up, where all have ended, and where it never had any", async () => {
    const { create, update, start, log } = await stack();
    const [stays, given, ended, unused] = ["s", "given", "ended", "unused"].map((name) => simple(`through-${name}`));
    const all = [stays, given, ended, unused] as Agent[];
    await create(all);
    await start(given!, "T-1");
    const run = await log.readRun(await start(ended!, "T-2"));
    await log.change(run!, ["RUNNING"], { status: "SUCCEEDED", outcome: "completed" });
    expect(await update(all, [stays!])).toMatchObject({ Status: "FAILED" });
    expect(await update(all, [stays!, given!])).toMatchObject({ Status: "SUCCESS" });
    expect(await update(all, [stays!], ["through-given"])).toMatchObject({ Status: "SUCCESS" });
  });

  it("ends the runs that were given up, and those alone, so that no sweep tries to go on with them", async () => {
    const { create, update, start, log, logger } = await stack();
    const [stays, goes] = [simple("not-given-up"), simple("given-up")];
    await create([stays, goes]);
    const [kept, lost] = [await start(stays, "T-1"), await start(goes, "T-2")];
    await log.putWaiter(aWaiter(lost));
    for (let times = 0; times < 2; times++) {
      expect(await update([stays, goes], [stays], ["given-up", "not-given-up"])).toMatchObject({ Status: "SUCCESS" });
    }
    expect(await log.readRun(kept)).toMatchObject({ status: "RUNNING" });
    expect(await log.readRun(lost)).toMatchObject({ status: "CANCELLED", outcome: "abandoned" });
    expect((await log.listOpenRuns()).map((run) => run.run_id)).not.toContain(lost);
    expect((await log.listOpenWaiters()).map((waiter) => waiter.run_id)).not.toContain(lost);
    expect(logger.lines.filter(({ message }) => message === "runs abandoned")).toHaveLength(1);
  });
});

describe("deleting the stack", () => {
  it("is refused while runs are open, unless somebody gave them up before", async () => {
    const { create, remove, start } = await stack();
    const agent = simple("deleted");
    await create([agent]);
    await start(agent, "T-1");
    const answer = await remove([agent]);
    expect(answer).toMatchObject({ Status: "FAILED", PhysicalResourceId: "surefoot-releases" });
    expect(answer["Reason"]).toContain("deleted has 1 open run (1 of version 1)");
    expect(answer["Reason"]).toContain("cdk deploy -c surefoot:abandonRuns=deleted before cdk destroy");
    expect(answer["Reason"]).toContain("--deletion-mode FORCE_DELETE_STACK --stack-name surefoot-dev");
    expect(await remove([agent], ["deleted"])).toMatchObject({ Status: "SUCCESS" });
  });

  it("of what was never created is never refused", async () => {
    const { start, remove } = await stack();
    const agent = simple("never-created");
    await start(agent, "T-1");
    const id = "surefoot-releases-not-created";
    expect(await remove([agent], [], id)).toMatchObject({ Status: "SUCCESS", PhysicalResourceId: id });
  });
});

describe("an answer to CloudFormation", () => {
  const create = { RequestType: "Create" };

  it("is given where the settings are missing, where the table fails, and where the request is another one", async () => {
    const { ask, propertiesOf, logger, ...ports } = await stack();
    const event = { ...create, ResourceProperties: propertiesOf([simple("answered")]) };
    const unset = await ask([], event, () => {
      throw new SettingsError("SUREFOOT_RUNS_TABLE is not set");
    });
    expect(unset).toMatchObject({ Status: "FAILED", Reason: "SUREFOOT_RUNS_TABLE is not set" });
    const list = () => Promise.reject(new TypeError("secret of customer 17"));
    const broken = await ask([], event, () => ({ ...ports, logger, releases: { ...ports.releases, list } }));
    expect(broken["Reason"]).toBe("TypeError: look at the log of the stack's Release function, then deploy again");
    expect(JSON.stringify(logger.lines)).not.toMatch(/secret/u);
    expect(await ask([], { RequestType: "Create", ResourceProperties: {} })).toMatchObject({ Status: "FAILED" });
  });

  it("is repeated until it is taken, and fits", async () => {
    let times = 0;
    const { create: deploy, cloudFormation } = await stack(() => ({ status: ++times < 3 ? 503 : 200 }));
    await deploy([simple("repeated")]);
    expect(cloudFormation.requests).toHaveLength(3);
    for (const { body } of cloudFormation.requests) expect(Buffer.byteLength(body)).toBeLessThan(4_096);
  });

  it("that nobody takes fails the function, without the address, which is a secret", async () => {
    const { create: deploy } = await stack(() => ({ status: 403 }));
    const failed = await deploy([simple("untaken")]).catch((error: unknown) => error);
    expect(String(failed)).toContain("CloudFormation did not take the answer, 4 times: status 403");
    expect(String(failed)).not.toContain("secret");
  });
});
