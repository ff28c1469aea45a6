import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { Fault } from "../../../shared/faults/fault.ts";
import { RecordCorrupt } from "../../../shared/faults/faults.ts";
import { packValue, unpackValue } from "../../../shared/payloads/claim-check.ts";
import { folderPayloadStore } from "../../../shared/payloads/folder-payload-store.ts";
import { anEntry, aRequest, aSuccess, ledgerWorld } from "../../builders/ledger-world.ts";
import { localTables } from "../../builders/local-tables.ts";

const leaseUntilMs = Date.UTC(2026, 8, 2, 12, 1, 0);
const refused = new Fault("http_503", "retryable", "come back later", { notBeforeMs: Date.UTC(2026, 8, 2, 12, 10, 0) });
const invalid = new Fault("http_400", "final", "no such payment");
const timeout = new Fault("tool_timeout", "unknown", "no answer");

describe("the ledger", () => {
  const tables = localTables();

  it("claims an operation nobody has seen: STARTED, one attempt, a lease and a token", async () => {
    const { ledger } = ledgerWorld(tables);
    const request = aRequest();
    const write = await ledger.claim(request, undefined, leaseUntilMs);

    expect(write.held).toBe(true);
    const stored = await ledger.read(request.operation_id);
    expect(stored).toEqual(write.entry);
    expect(stored).toMatchObject({
      ...request,
      status: "STARTED",
      attempt: 1,
      may_have_applied: false,
      first_sent_at: "2026-09-02T12:00:00.000Z",
      lease_until: "2026-09-02T12:01:00.000Z",
      created_at: "2026-09-02T12:00:00.000Z",
      version: 1,
    });
    expect(stored?.attempt_token).toMatch(/^w\d{4}n\d{6}$/u);
  });

  it("gives two simultaneous claims to one of them", async () => {
    const { ledger } = ledgerWorld(tables);
    const request = aRequest();
    const writes = await Promise.all([1, 2, 3, 4].map(() => ledger.claim(request, undefined, leaseUntilMs)));

    expect(writes.filter(({ held }) => held)).toHaveLength(1);
    expect(new Set(writes.map(({ entry }) => entry.attempt_token)).size).toBe(1);
  });

  it("counts an attempt before it is made, and keeps the first send's time over all of them", async () => {
    const { ledger, clock } = ledgerWorld(tables);
    const request = aRequest();
    const first = await ledger.claim(request, undefined, leaseUntilMs);
    await ledger.fail(first.entry, refused);
    clock.advance(600_000);
    const found = await ledger.read(request.operation_id);
    const second = await ledger.claim(request, found, leaseUntilMs + 600_000);

    expect(second).toMatchObject({
      held: true,
      entry: {
        status: "STARTED",
        attempt: 2,
        first_sent_at: "2026-09-02T12:00:00.000Z",
        lease_until: "2026-09-02T12:11:00.000Z",
      },
    });
    expect(second.entry.attempt_token).not.toBe(first.entry.attempt_token);
    expect(second.entry.error).toBeUndefined();
    expect(second.entry.not_before).toBeUndefined();
  });

  it("records a definite failure by its class, with the server's floor", async () => {
    const { ledger } = ledgerWorld(tables);
    const [one, other] = await Promise.all([
      ledger.claim(aRequest(), undefined, leaseUntilMs),
      ledger.claim(aRequest(), undefined, leaseUntilMs),
    ]);

    expect(await ledger.fail(one.entry, refused)).toMatchObject({
      held: true,
      entry: { status: "FAILED_RETRYABLE", not_before: "2026-09-02T12:10:00.000Z", error: { code: "http_503" } },
    });
    expect(await ledger.fail(other.entry, invalid)).toMatchObject({
      held: true,
      entry: { status: "FAILED_FINAL", error: { code: "http_400" } },
    });
  });

  it("replaces a PENDING request, and never one that was started", async () => {
    const { ledger } = ledgerWorld(tables);
    const request = aRequest();
    const pending = await ledger.propose(request, undefined);
    const changed = { ...request, request: { json: '{"amountCents":1}' }, request_hash: "bbbb" };
    const replaced = await ledger.propose(changed, pending.entry);
    expect(replaced).toMatchObject({ held: true, entry: { status: "PENDING", request_hash: "bbbb", version: 2 } });

    const started = await ledger.claim(changed, replaced.entry, leaseUntilMs);
    await expect(ledger.propose(request, started.entry)).rejects.toMatchObject({ code: "illegal_transition" });
    expect((await ledger.read(request.operation_id))?.request_hash).toBe("bbbb");
  });

  it("marks a released attempt as one that may have applied, and the next claim keeps the mark", async () => {
    const { ledger, clock } = ledgerWorld(tables);
    const { entry } = await ledger.claim(aRequest(), undefined, leaseUntilMs);
    const released = await ledger.release(entry, timeout, clock.nowMs());
    expect(released.entry).toMatchObject({
      status: "STARTED",
      may_have_applied: true,
      lease_until: "2026-09-02T12:00:00.000Z",
    });
    const again = await ledger.reclaim(released.entry, leaseUntilMs);
    expect(again.entry).toMatchObject({ status: "STARTED", attempt: 2, may_have_applied: true });
  });

  it("clears the doubt and the key's window once the other side was found not to have it", async () => {
    const { ledger } = ledgerWorld(tables);
    const { entry } = await ledger.claim(aRequest(), undefined, leaseUntilMs);
    const { entry: doubtful } = await ledger.doubt(entry, timeout);
    const { entry: absent } = await ledger.reconcileAbsent(doubtful, "not found after the settle time");

    expect(absent).toMatchObject({
      status: "FAILED_RETRYABLE",
      may_have_applied: false,
      resolution: { outcome: "FAILED_RETRYABLE", by: "reconciler", evidence: "not found after the settle time" },
    });
    expect(absent.first_sent_at).toBeUndefined();
  });

  it("refuses an attempt that was overtaken, and shows what is there", async () => {
    const { ledger } = ledgerWorld(tables);
    const { entry } = await ledger.claim(aRequest(), undefined, leaseUntilMs);
    const { entry: newer } = await ledger.reclaim(entry, leaseUntilMs + 60_000);

    expect(await ledger.fail(entry, refused)).toEqual({ held: false, entry: newer });
    expect(await ledger.doubt(entry, timeout)).toEqual({ held: false, entry: newer });
    expect(await ledger.release(entry, timeout, leaseUntilMs)).toEqual({ held: false, entry: newer });
    expect(await ledger.read(entry.operation_id)).toEqual(newer);
  });

  it("keeps large requests and results beside the table, and gives them back whole", async () => {
    const { ledger } = ledgerWorld(tables);
    const payloads = folderPayloadStore(`${tables.folder()}/payloads`);
    const large = { text: "é".repeat(300_000) };
    const request = await packValue(payloads, "run-1", large);
    const result = await packValue(payloads, "run-1", { id: "re_1", ...large });
    const { entry } = await ledger.claim(aRequest({ request }), undefined, leaseUntilMs);
    await ledger.commit(entry, aSuccess({ result }));

    const stored = await ledger.read(entry.operation_id);
    expect(stored?.request).toEqual({ ref: expect.objectContaining({ bytes: 600_011 }) });
    expect(stored?.result).toEqual({ ref: expect.objectContaining({ bytes: 600_023 }) });
    expect(await unpackValue(payloads, stored?.request ?? { json: "" })).toEqual(large);
    expect(await unpackValue(payloads, stored?.result ?? { json: "" })).toEqual({ id: "re_1", ...large });
  });

  it("keeps what fits in the fixed attributes of the item", async () => {
    const { ledger, proxy } = ledgerWorld(tables);
    const { entry } = await ledger.claim(aRequest(), undefined, leaseUntilMs);
    await ledger.commit(entry, aSuccess());
    const put = proxy.requests.filter(({ item }) => item["operation_id"] === entry.operation_id).at(-1);
    expect(put?.item).toMatchObject({
      operation_id: entry.operation_id,
      run_id: "refund-agent-20260902-0001",
      workflow_id: "TICKET-1",
      action_name: "create_refund",
      business_key: "ORD-1",
      request_hash: "aaaa",
      status: "SUCCEEDED",
      external_ref: "re_1",
      result_json: '{"id":"re_1"}',
      created_at: "2026-09-02T12:00:00.000Z",
      updated_at: "2026-09-02T12:00:00.000Z",
    });
  });

  it("lists the operations of a run, oldest first", async () => {
    const { ledger, clock } = ledgerWorld(tables);
    const first = await ledger.claim(aRequest({ run_id: "run-to-list" }), undefined, leaseUntilMs);
    clock.advance(1_000);
    const second = await ledger.claim(aRequest({ run_id: "run-to-list" }), undefined, leaseUntilMs);
    expect(await ledger.listByRun("run-to-list")).toEqual([first.entry, second.entry]);
    expect(await ledger.listByRun("run-without-any")).toEqual([]);
  });

  it("lists what is not settled by its status, and forgets it once it is", async () => {
    const { ledger, store } = ledgerWorld(tables);
    const claims = await Promise.all(
      Array.from({ length: 6 }, () => ledger.claim(aRequest(), undefined, leaseUntilMs)),
    );
    const ids = claims.map(({ entry }) => entry.operation_id);
    const open = async (status: "STARTED" | "UNKNOWN") =>
      (await store.listOpen(status)).map(({ operation_id }) => operation_id).filter((id) => ids.includes(id));

    expect((await open("STARTED")).sort()).toEqual([...ids].sort());
    const [committed, doubtful] = claims;
    if (!committed || !doubtful) throw new Error("there are six");
    await ledger.commit(committed.entry, aSuccess());
    await ledger.doubt(doubtful.entry, timeout);
    expect((await open("STARTED")).sort()).toEqual(ids.slice(2).sort());
    expect(await open("UNKNOWN")).toEqual([ids[1]]);
  });

  it.each([
    ["an unknown status", { status: "DONE" }],
    ["a missing attempt count", { attempt: undefined }],
    ["a number where a text belongs", { request_hash: 7 }],
    ["no request at all", { request_json: undefined }],
  ])("refuses a stored entry with %s as corrupt, and never reads it as something else", async (_what, foreign) => {
    const { ledger, given } = ledgerWorld(tables);
    const { request: _request, ...entry } = await given(anEntry("STARTED"));
    const item = { ...entry, request_json: "{}", ...foreign };
    await tables.client().send(new PutCommand({ TableName: "ledger", Item: item }));

    await expect(ledger.read(entry.operation_id)).rejects.toBeInstanceOf(RecordCorrupt);
    await expect(ledger.claim(aRequest({ operation_id: entry.operation_id }), undefined, 0)).rejects.toMatchObject({
      code: "record_corrupt",
    });
  });
});
