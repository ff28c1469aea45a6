import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { apiClient } from "../../infra/cli/api-client.ts";
import type { Approval } from "../../infra/cli/api-shapes.ts";
import { type LocalRunner, startLocalRunner } from "../../infra/local/local-runner.ts";
import { type DynamoProxy, type DynamoRequest, neverAnswer, startDynamoProxy } from "../builders/dynamo-proxy.ts";
import { type GuardedOutside, guardedOutside } from "./guarded-outside.ts";
import { actionsOf, agentModule, eventually, operationOf, slowMs } from "./stage.ts";

vi.setConfig({ testTimeout: slowMs, hookTimeout: slowMs });

const agent = "guarded-transfer";
const bob = "bob@example.com";
const cleo = "cleo@example.com";

interface Life extends ReturnType<typeof actionsOf> {
  readonly runner: LocalRunner;
  readonly proxy: DynamoProxy;
  stop(): Promise<void>;
}

let folder: string;
let outside: GuardedOutside;
let life: Life;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "surefoot-decisions-"));
  outside = guardedOutside();
  life = await begin();
});
afterAll(async () => {
  await life?.stop();
  outside?.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** A runner on the folder that all lives share. */
async function begin(): Promise<Life> {
  let proxy: DynamoProxy | undefined;
  const runner = await startLocalRunner({
    folder,
    agents: [{ modulePath: agentModule(agent), environment: outside.environment }],
    settings: { stepTimeoutSeconds: 15 },
    dynamoEndpointFor: async (target) => (proxy = await startDynamoProxy({ target })).endpoint,
  });
  if (!proxy) throw new Error("the runner did not ask for a proxy");
  const { stop } = proxy;
  return {
    runner,
    proxy,
    ...actionsOf(apiClient(runner.url)),
    async stop() {
      await runner.stop();
      await stop();
    },
  };
}

async function start(name: string, amountCents = 5_000): Promise<string> {
  const body = { agent, workflow_id: name, input: { name, amountCents }, by: "ann@example.com" };
  return ((await life.api.post("/runs", body)).body as { run_id: string }).run_id;
}

const Answer = z.object({
  status: z.number(),
  body: z.looseObject({
    status: z.string().optional(),
    wake: z.string().optional(),
    resumed: z.boolean().optional(),
    error: z.object({ code: z.string() }).optional(),
  }),
});

async function decide(approvalId: string, decision: "approve" | "reject", by: string) {
  const body = { decision, by };
  return Answer.parse(await life.api.post(`/approvals/${encodeURIComponent(approvalId)}`, body, [200, 409]));
}
/** Two of three have to say yes. */
async function approve({ approval_id: id }: Approval) {
  await decide(id, "approve", bob);
  return decide(id, "approve", cleo);
}

const Shown = z.looseObject({
  status: z.string(),
  operation_id: z.string(),
  resume_pending: z.boolean().optional(),
  superseded: z.object({ reason: z.string(), comment: z.string().optional() }).optional(),
});
const shown = async (approvalId: string) =>
  Shown.parse(await life.api.get(`/approvals/${encodeURIComponent(approvalId)}`));

/** The decision is recorded, and whoever recorded it is never heard of again. */
const isDecision = ({ operation, item }: DynamoRequest): boolean =>
  operation === "PutItem" && String(item["item"]).startsWith("STEP#") && item["node"] === "review";

test("decisions that arrive before the wait exists count, and the run goes on without waiting", async () => {
  const answers: z.infer<typeof Answer>[] = [];
  const isWait = ({ operation, item, values }: DynamoRequest) =>
    operation === "UpdateItem" && String(item["item"]).endsWith(".review") && ":token" in values;
  const waits = life.proxy.on(isWait, {
    before: async ({ item }) => {
      const id = `${String(item["run_id"])}:${String(item["item"]).replace("WAIT#", "")}`;
      for (const by of [bob, cleo]) answers.push(await decide(id, "approve", by));
    },
  });
  const runId = await start("early");
  expect(await life.ended(runId)).toMatchObject({ status: "SUCCEEDED", outcome: "completed" });
  expect(waits()).toBe(1);
  // Nobody was there to be told yet, and the answer says so.
  expect(answers).toMatchObject([
    { status: 200, body: { status: "pending" } },
    { status: 200, body: { status: "approved", wake: "waiting", resumed: false } },
  ]);
  expect(outside.effects("early")).toEqual(["early 5000"]);
});

test("a decision whose response was lost counts; the same one again is 200, and the run is awake", async () => {
  const runId = await start("lost");
  const { approval_id: id } = await life.asked(runId);
  await decide(id, "approve", bob);
  const recorded = life.proxy.on(isDecision, neverAnswer);
  void decide(id, "approve", cleo).catch(() => "no answer");
  await eventually(
    async () => recorded(),
    (times) => times === 1,
  );
  // Whoever decided hears nothing; the run sleeps, and the approval says so.
  expect(await shown(id)).toMatchObject({ status: "approved", resume_pending: true });
  expect((await life.run(runId)).status).toBe("WAITING");

  expect(await decide(id, "approve", cleo)).toMatchObject({ status: 200, body: { status: "approved", resumed: true } });
  expect(await life.ended(runId)).toMatchObject({ status: "SUCCEEDED", outcome: "completed" });
  expect(await decide(id, "approve", bob)).toMatchObject({ status: 200, body: { wake: "told_before" } });
  expect(await decide(id, "reject", cleo)).toMatchObject({ status: 409, body: { error: { code: "already_decided" } } });
  expect(outside.effects("lost")).toEqual(["lost 5000"]);
});

test("approvals that wait at once, answered in the reverse order of asking, land each at its own operation", async () => {
  const names = ["first", "second", "third"] as const;
  const runs = new Map<string, { readonly runId: string; readonly approval: Approval }>();
  for (const [at, name] of names.entries()) {
    const runId = await start(name, 1_000 * (at + 1));
    runs.set(name, { runId, approval: await life.asked(runId) });
  }
  const of = (name: (typeof names)[number]) => runs.get(name)!;
  expect(await approve(of("third").approval)).toMatchObject({ status: 200 });
  expect(await decide(of("second").approval.approval_id, "reject", bob)).toMatchObject({ status: 200 });
  expect(await approve(of("first").approval)).toMatchObject({ status: 200 });

  for (const [name, cents] of [["first", 1_000] as const, ["third", 3_000] as const]) {
    const run = await life.ended(of(name).runId);
    expect(run).toMatchObject({ status: "SUCCEEDED", outcome: "completed" });
    const { operation_id } = await shown(of(name).approval.approval_id);
    expect(operationOf(run)).toMatchObject({ operation_id, status: "SUCCEEDED" });
    expect(outside.effects(name)).toEqual([`${name} ${cents}`]);
  }
  const rejected = await life.ended(of("second").runId);
  expect(rejected).toMatchObject({ status: "SUCCEEDED", outcome: "rejected" });
  expect(operationOf(rejected).status).not.toBe("SUCCEEDED");
  expect(outside.effects("second")).toEqual([]);
});

test("everything dies between decision and dispatch, and the world is another one then: each decision is refused for its own reason, nothing is sent, and it is asked anew where the agent says so", async () => {
  const names = ["argument", "status", "limit", "nothing"] as const;
  const asked = new Map<string, { readonly runId: string; readonly approval: Approval }>();
  for (const name of names) {
    const runId = await start(name);
    asked.set(name, { runId, approval: await life.asked(runId) });
  }
  const of = (name: (typeof names)[number]) => asked.get(name)!;
  const recorded = life.proxy.on(isDecision, neverAnswer, names.length);
  const unheard = names.map((name) => approve(of(name).approval).catch(() => "no answer"));
  await eventually(
    async () => recorded(),
    (times) => times === names.length,
  );
  await life.stop();
  expect(await Promise.all(unheard)).toEqual(names.map(() => "no answer"));
  outside.change({ argument: { driftCents: 1 }, status: { status: "closed" }, limit: { limitCents: 100 } });

  life = await begin();
  expect(new Set(life.runner.resumed)).toEqual(new Set(names.map((name) => of(name).runId)));
  expect(await life.ended(of("nothing").runId)).toMatchObject({ status: "SUCCEEDED", outcome: "completed" });
  // Where nothing else is declared, it goes where a rejection does: here to the end.
  expect(await life.ended(of("limit").runId)).toMatchObject({ status: "SUCCEEDED" });
  const again = {
    argument: await life.asked(of("argument").runId, of("argument").approval),
    status: await life.asked(of("status").runId, of("status").approval),
  };
  const reasons = await Promise.all(names.map(async (name) => (await shown(of(name).approval.approval_id)).superseded));
  expect(reasons).toEqual([
    { reason: "digest_changed" },
    { reason: "snapshot_changed", comment: "changed: status" },
    { reason: "precondition_failed", comment: "the limit is 100" },
    undefined,
  ]);
  for (const name of ["argument", "status", "limit"]) expect(outside.effects(name)).toEqual([]);
  expect(outside.effects("nothing")).toEqual(["nothing 5000"]);

  // What is asked now is what is sent then, once; the void decisions stay void.
  for (const name of ["argument", "status"] as const) {
    expect(await decide(of(name).approval.approval_id, "approve", bob)).toMatchObject({
      status: 409,
      body: { error: { code: "superseded" } },
    });
    expect(await approve(again[name])).toMatchObject({ status: 200 });
    expect(await life.ended(of(name).runId)).toMatchObject({ status: "SUCCEEDED", outcome: "completed" });
  }
  expect(outside.effects("argument")).toEqual(["argument 5001"]);
  expect(outside.effects("status")).toEqual(["status 5000"]);
  expect(outside.effects("limit")).toEqual([]);
});
