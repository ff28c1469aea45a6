import { describe, expect, it } from "vitest";
import { createControlApp } from "../../../lambdas/api/control-app.ts";
import { localTables } from "../../builders/local-tables.ts";
import { sweepWorld, type SweepWorld, type SweepWorldOptions } from "../../builders/sweep-world.ts";

const iam = { event: { requestContext: { authorizer: { iam: { userArn: "arn:aws:iam::1:user/lee" } } } } };

describe("what an operator does over HTTP", () => {
  const tables = localTables();

  const post = async (world: SweepWorld, path: string, body: unknown, env?: Readonly<Record<string, unknown>>) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await createControlApp(world.ports).request(path, { method: "POST", body: text }, env);
    return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> };
  };

  async function inDoubt(options: SweepWorldOptions = {}): Promise<SweepWorld> {
    const world = await sweepWorld(tables, { side: "none", ...options });
    world.downstream.next({ kind: "drop_response" });
    await world.go();
    return world;
  }

  const word = { outcome: "succeeded", external_ref: "ref_1", evidence: "seen in the shop", by: "kim" };

  it("resolves an operation, once: the same word again is 200 and any other 409 with who and when", async () => {
    const world = await inDoubt();
    const path = `/operations/${world.operationId}/resolution`;
    const first = await post(world, path, { ...word, expected_version: 2 });
    expect(first).toMatchObject({
      status: 200,
      body: {
        changed: true,
        wake: "woken",
        operation: {
          status: "SUCCEEDED",
          external_ref: "ref_1",
          resolution: { by: "kim", evidence: "seen in the shop" },
        },
      },
    });
    expect(JSON.stringify(first.body)).not.toContain("attempt_token");
    expect(await post(world, path, word)).toMatchObject({ status: 200, body: { changed: false, wake: "told_before" } });
    const other = await post(world, path, { ...word, outcome: "failed", by: "lee" });
    expect(other).toMatchObject({ status: 409, body: { error: { code: "not_unknown" } } });
    expect(JSON.stringify(other.body)).toContain("by kim at 2026-09-02T12:00:00.000Z");
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
  });

  it("records who IAM says it was, whatever the body claims", async () => {
    const world = await inDoubt();
    await post(world, `/operations/${world.operationId}/resolution`, word, iam);
    expect((await world.entry()).resolution).toMatchObject({ by: "arn:aws:iam::1:user/lee" });
  });

  it.each([
    { wrong: { ...word, evidence: undefined }, code: "invalid_request", says: "evidence is missing" },
    { wrong: { ...word, evidence: "" }, code: "invalid_request", says: "evidence" },
    { wrong: { ...word, outcome: "done" }, code: "invalid_request", says: "outcome" },
    { wrong: { ...word, by: undefined }, code: "decider_missing", says: "by" },
    { wrong: { ...word, external_ref: undefined }, code: "result_missing", says: "external_ref" },
    { wrong: { ...word, note: "?" }, code: "invalid_request", says: "note" },
    { wrong: "{", code: "not_json", says: "JSON" },
  ])("refuses a word that lacks something ($says) with 400 and changes nothing", async ({ wrong, code, says }) => {
    const world = await inDoubt();
    const answer = await post(world, `/operations/${world.operationId}/resolution`, wrong);
    expect(answer).toMatchObject({ status: 400, body: { error: { code } } });
    expect(JSON.stringify(answer.body)).toContain(says);
    expect(await world.entry()).toMatchObject({ status: "UNKNOWN", version: 2 });
  });

  it("refuses a stale version with 409 and an unknown operation with 404", async () => {
    const world = await inDoubt();
    const stale = await post(world, `/operations/${world.operationId}/resolution`, { ...word, expected_version: 1 });
    expect(stale).toMatchObject({ status: 409, body: { error: { code: "version_changed", facts: { version: 2 } } } });
    expect(await post(world, `/operations/${"0".repeat(32)}/resolution`, word)).toMatchObject({
      status: 404,
      body: { error: { code: "unknown_operation" } },
    });
  });

  it("resumes a run whose attempts are spent, once its cause is mended, with a new budget", async () => {
    const world = await sweepWorld(tables, { attempts: 2 });
    world.downstream.next({ kind: "refuse" }, { kind: "refuse" }, { kind: "refuse" });
    for (let n = 0; n < 3; n++) await world.go();
    expect(await world.verdict()).toBe("run PARKED, 0 effects, operation FAILED_RETRYABLE");
    expect((await world.history()).run.failure).toMatchObject({ error: { code: "retry_exhausted" }, node: "place" });

    const path = `/runs/${world.runId}/resume`;
    expect(await post(world, path, { by: "kim" })).toEqual({
      status: 200,
      body: { run_id: world.runId, status: "RUNNING", execution: `${world.runId}-2` },
    });
    await world.go();
    expect(await world.entry()).toMatchObject({ status: "FAILED_RETRYABLE", attempt: 3, attempts_granted: 2 });
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
    expect(await post(world, path, { by: "kim" })).toMatchObject({
      status: 409,
      body: { error: { code: "not_resumable" } },
    });
  });

  it("refuses to resume a run that has ended, and gives none of its operations another attempt", async () => {
    const world = await sweepWorld(tables, { attempts: 1 });
    world.downstream.next({ kind: "refuse" });
    await world.go();
    await world.go();
    expect(await post(world, `/runs/${world.runId}/cancel`, { by: "kim" })).toMatchObject({ status: 200 });
    const { version } = await world.entry();
    expect(await post(world, `/runs/${world.runId}/resume`, { by: "kim" })).toMatchObject({
      status: 409,
      body: { error: { code: "not_resumable" } },
    });
    expect(await world.entry()).toMatchObject({ version });
  });

  it("cancels a run once", async () => {
    const world = await inDoubt();
    const path = `/runs/${world.runId}/cancel`;
    expect(await post(world, path, { by: "kim" })).toEqual({
      status: 200,
      body: { run_id: world.runId, status: "CANCELLED", changed: true, compensating: false },
    });
    expect(await post(world, path, { by: "kim" })).toMatchObject({ status: 200, body: { changed: false } });
    expect(await world.go()).toEqual({ [`${world.runId}-1`]: "ended" });
  });

  it.each(["no-such-run", "%25", "a%3Ab", "%E0%A4%A"])("knows no run %s: 404, whatever was to be done", async (id) => {
    const world = await sweepWorld(tables);
    for (const verb of ["resume", "cancel"])
      expect(await post(world, `/runs/${id}/${verb}`, { by: "kim" })).toMatchObject({
        status: 404,
        body: { error: { code: "unknown_run" } },
      });
  });
});
