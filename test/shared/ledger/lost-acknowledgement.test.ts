import { describe, expect, it } from "vitest";
import { Fault } from "../../../shared/faults/fault.ts";
import type { LedgerEntry } from "../../../shared/ledger/ledger-entry.ts";
import { isWrite, loseAcknowledgement, refuse } from "../../builders/dynamo-proxy.ts";
import { anEntry, aRequest, aSuccess, type LedgerWorld, ledgerWorld } from "../../builders/ledger-world.ts";
import { localTables } from "../../builders/local-tables.ts";

const leaseUntilMs = Date.UTC(2026, 8, 2, 12, 1, 0);
const refused = new Fault("http_503", "retryable", "come back later");
const invalid = new Fault("http_400", "final", "no such payment");
const timeout = new Fault("tool_timeout", "unknown", "no answer");
const success = aSuccess();

interface Verb {
  readonly verb: string;
  readonly found: LedgerEntry | undefined;
  readonly run: (world: LedgerWorld, found: LedgerEntry | undefined) => Promise<{ readonly entry: LedgerEntry }>;
  readonly to: string;
}

const onFound =
  (run: (world: LedgerWorld, found: LedgerEntry) => Promise<{ readonly entry: LedgerEntry }>) =>
  (world: LedgerWorld, found: LedgerEntry | undefined) => {
    if (!found) throw new Error("this verb changes an entry");
    return run(world, found);
  };
const anew = aRequest();
const fromPending = anEntry("PENDING");

const verbs: readonly Verb[] = [
  { verb: "propose", found: undefined, run: ({ ledger }) => ledger.propose(aRequest(), undefined), to: "PENDING" },
  {
    verb: "propose again",
    found: fromPending,
    run: onFound(({ ledger }, found) => ledger.propose({ ...anew, operation_id: found.operation_id }, found)),
    to: "PENDING",
  },
  {
    verb: "the first claim",
    found: undefined,
    run: ({ ledger }) => ledger.claim(aRequest(), undefined, leaseUntilMs),
    to: "STARTED",
  },
  {
    verb: "claim after PENDING",
    found: anEntry("PENDING"),
    run: onFound(({ ledger }, found) => ledger.claim(aRequest({ operation_id: found.operation_id }), found, 0)),
    to: "STARTED",
  },
  {
    verb: "claim after FAILED_RETRYABLE",
    found: anEntry("FAILED_RETRYABLE"),
    run: onFound(({ ledger }, found) => ledger.claim(aRequest({ operation_id: found.operation_id }), found, 0)),
    to: "STARTED",
  },
  {
    verb: "reclaim",
    found: anEntry("STARTED"),
    run: onFound(({ ledger }, found) => ledger.reclaim(found, leaseUntilMs)),
    to: "STARTED",
  },
  {
    verb: "release",
    found: anEntry("STARTED"),
    run: onFound(({ ledger }, found) => ledger.release(found, timeout, leaseUntilMs)),
    to: "STARTED",
  },
  {
    verb: "commit",
    found: anEntry("STARTED"),
    run: onFound(({ ledger }, found) => ledger.commit(found, success)),
    to: "SUCCEEDED",
  },
  {
    verb: "a retryable failure",
    found: anEntry("STARTED"),
    run: onFound(({ ledger }, found) => ledger.fail(found, refused)),
    to: "FAILED_RETRYABLE",
  },
  {
    verb: "a final failure",
    found: anEntry("STARTED"),
    run: onFound(({ ledger }, found) => ledger.fail(found, invalid)),
    to: "FAILED_FINAL",
  },
  {
    verb: "doubt",
    found: anEntry("STARTED"),
    run: onFound(({ ledger }, found) => ledger.doubt(found, timeout)),
    to: "UNKNOWN",
  },
  {
    verb: "found by lookup",
    found: anEntry("STARTED"),
    run: onFound(({ ledger }, found) => ledger.reconcileSucceeded(found, success, "found")),
    to: "SUCCEEDED",
  },
  {
    verb: "absent by lookup",
    found: anEntry("STARTED"),
    run: onFound(({ ledger }, found) => ledger.reconcileAbsent(found, "absent")),
    to: "FAILED_RETRYABLE",
  },
  {
    verb: "unknown by lookup",
    found: anEntry("STARTED"),
    run: onFound(({ ledger }, found) => ledger.reconcileUnknown(found, timeout)),
    to: "UNKNOWN",
  },
  {
    verb: "a late commit",
    found: anEntry("FAILED_FINAL"),
    run: onFound(({ ledger }, found) => ledger.commit({ ...found, status: "STARTED", version: 99 }, success)),
    to: "SUCCEEDED",
  },
];

describe("a lost acknowledgement from DynamoDB", () => {
  const tables = localTables();

  it.each(verbs)("of $verb ends as success, not as conflict", async ({ found, run, to }) => {
    const world = ledgerWorld(tables);
    if (found) await world.given(found);
    // A late commit is refused once for good before the write that counts.
    const used = world.proxy.on((request) => isWrite(request) && request.item["version"] !== 100, loseAcknowledgement);

    const result = await run(world, found);
    expect(used()).toBe(1);
    expect("held" in result ? result.held : true).toBe(true);
    expect(result.entry.status).toBe(to);
    expect(await world.ledger.read(result.entry.operation_id)).toEqual(result.entry);
    expect(result.entry.version).toBe((found?.version ?? 0) + 1);
  });

  it("of a commit is `committed`, with no contradiction", async () => {
    const world = ledgerWorld(tables);
    const found = await world.given(anEntry("STARTED"));
    world.proxy.on(isWrite, loseAcknowledgement);
    const { how, entry } = await world.ledger.commit(found, success);
    expect(how).toBe("committed");
    expect(entry.contradictions).toBeUndefined();
  });

  it("of a second success notes it once", async () => {
    const world = ledgerWorld(tables);
    const found = await world.given(anEntry("SUCCEEDED", { version: 5 }));
    world.proxy.on(({ values }) => values[":status"] === "SUCCEEDED", loseAcknowledgement);
    const zombie: LedgerEntry = { ...found, status: "STARTED", version: 1 };
    const { how, entry } = await world.ledger.commit(zombie, aSuccess({ externalRef: "re_2", responseHash: "h2" }));
    expect(how).toBe("second");
    expect(entry.contradictions).toHaveLength(1);
    expect(entry.version).toBe(6);
  });

  it("is told from a real conflict: another claimer's entry is not taken for ours", async () => {
    const world = ledgerWorld(tables);
    const rival = ledgerWorld(tables);
    const request = aRequest();
    const taken = await rival.ledger.claim(request, undefined, leaseUntilMs);
    world.proxy.on(({ item }) => item["operation_id"] === request.operation_id, loseAcknowledgement);
    expect(await world.ledger.claim(request, undefined, leaseUntilMs)).toEqual({ held: false, entry: taken.entry });
  });

  it("and a request that never arrived are both repeated by the SDK", async () => {
    const world = ledgerWorld(tables);
    world.proxy.on(isWrite, refuse, 2);
    const { held, entry } = await world.ledger.claim(aRequest(), undefined, leaseUntilMs);
    expect(held).toBe(true);
    expect(entry.attempt).toBe(1);
  });
});
