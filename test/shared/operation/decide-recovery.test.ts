import { describe, expect, it } from "vitest";
import { byKey, byQuery, type Downstream, hours, minutes, none } from "../../../shared/index.ts";
import type { LedgerEntry } from "../../../shared/ledger/ledger-entry.ts";
import {
  decideReconciliation,
  decideRecovery,
  judgeLookup,
  keyUntilMs,
} from "../../../shared/operation/decide-recovery.ts";
import { anEntry } from "../../builders/ledger-world.ts";

/** Milliseconds of a moment on 2 September 2026. */
const at = (time: string) => Date.parse(`2026-09-02T${time}Z`);
const iso = (time: string) => `2026-09-02T${time}Z`;

describe("what a re-entry does", () => {
  const lease = { lease_until: iso("12:01:00.000") };
  const floor = { not_before: iso("12:05:00.000") };
  const rows: readonly [string, LedgerEntry | undefined, string, string, object][] = [
    ["claims what nobody has seen", undefined, "aaaa", "12:00:00.000", { kind: "claim" }],
    ["claims a PENDING request", anEntry("PENDING"), "aaaa", "12:00:00.000", { kind: "claim" }],
    ["replaces a PENDING request by another", anEntry("PENDING"), "bbbb", "12:00:00.000", { kind: "claim" }],
    ["reuses a success", anEntry("SUCCEEDED"), "aaaa", "12:00:00.000", { kind: "reuse" }],
    [
      "comes back at the end of a live lease",
      anEntry("STARTED", lease),
      "aaaa",
      "12:00:59.999",
      { kind: "come_back", code: "operation_in_flight", atMs: at("12:01:00.000") },
    ],
    ["reconciles once the lease has lapsed", anEntry("STARTED", lease), "aaaa", "12:01:00.000", { kind: "reconcile" }],
    [
      "keeps to the server's floor before it reconciles",
      anEntry("STARTED", { ...lease, ...floor }),
      "aaaa",
      "12:04:59.999",
      { kind: "come_back", code: "retry_after", atMs: at("12:05:00.000") },
    ],
    [
      "reconciles at the floor",
      anEntry("STARTED", { ...lease, ...floor }),
      "aaaa",
      "12:05:00.000",
      { kind: "reconcile" },
    ],
    [
      "claims again after a failure, below the budget",
      anEntry("FAILED_RETRYABLE", { attempt: 2 }),
      "aaaa",
      "12:00:00.000",
      { kind: "claim" },
    ],
    [
      "is exhausted at the budget",
      anEntry("FAILED_RETRYABLE", { attempt: 3 }),
      "aaaa",
      "12:00:00.000",
      { kind: "exhausted" },
    ],
    [
      "waits for the floor after a failure, even with the budget spent",
      anEntry("FAILED_RETRYABLE", { attempt: 3, ...floor }),
      "aaaa",
      "12:04:59.999",
      { kind: "come_back", code: "retry_after", atMs: at("12:05:00.000") },
    ],
    [
      "claims again at the floor",
      anEntry("FAILED_RETRYABLE", { attempt: 1, ...floor }),
      "aaaa",
      "12:05:00.000",
      { kind: "claim" },
    ],
    ["fails on a final failure", anEntry("FAILED_FINAL"), "aaaa", "12:00:00.000", { kind: "failed" }],
    ["parks on an unknown outcome", anEntry("UNKNOWN"), "aaaa", "12:00:00.000", { kind: "unknown" }],
    ...(["STARTED", "SUCCEEDED", "FAILED_RETRYABLE", "FAILED_FINAL", "UNKNOWN"] as const).map(
      (status): [string, LedgerEntry, string, string, object] => [
        `refuses another request over ${status}`,
        anEntry(status, { ...lease, ...floor }),
        "bbbb",
        "12:00:00.000",
        { kind: "conflict" },
      ],
    ),
  ];

  it.each(rows)("%s", (_behaviour, entry, hash, now, expected) => {
    expect(decideRecovery(entry, hash, at(now), 3)).toMatchObject(expected);
  });
});

describe("how a doubt is cleared", () => {
  const lookup = async () => "not_found" as const;
  const key = byKey({ window: hours(24) });
  const keyAndLookup = byKey({ window: hours(24), lookup });
  const shortKey = byKey({ window: minutes(10) });
  const query = byQuery({ settle: minutes(2), lookup });
  const sent = { first_sent_at: "2026-09-02T12:00:00.000Z" };
  const failure = (failure_class: "final" | "retryable" | "unknown") => ({
    error: { code: "x", failure_class, message: "m", facts: {} },
  });

  const rows: readonly [string, Downstream<unknown, unknown> | Downstream, Partial<LedgerEntry>, string, string][] = [
    ["a key is sent again within its window", key, sent, "2026-09-02T12:00:00.000Z", "replay"],
    ["until 5 minutes before a day's window ends", key, sent, "2026-09-03T11:54:59.999Z", "replay"],
    ["not within the last 5 minutes of it", key, sent, "2026-09-03T11:55:00.000Z", "unknown"],
    ["a short window loses a tenth: sent again before", shortKey, sent, "2026-09-02T12:08:59.999Z", "replay"],
    ["a short window loses a tenth: not after", shortKey, sent, "2026-09-02T12:09:00.000Z", "unknown"],
    ["a key past its window is looked up", keyAndLookup, sent, "2026-09-03T11:55:00.000Z", "lookup"],
    ["a key with its budget spent is unknown", key, { ...sent, attempt: 3 }, "2026-09-02T12:00:00.000Z", "unknown"],
    ["or looked up", keyAndLookup, { ...sent, attempt: 3 }, "2026-09-02T12:00:00.000Z", "lookup"],
    [
      "a replay that was refused for good is not sent again",
      key,
      { ...sent, ...failure("final") },
      "2026-09-02T12:00:00.000Z",
      "unknown",
    ],
    ["but looked up", keyAndLookup, { ...sent, ...failure("final") }, "2026-09-02T12:00:00.000Z", "lookup"],
    [
      "a replay that was refused for now is sent again",
      key,
      { ...sent, ...failure("retryable") },
      "2026-09-02T12:00:00.000Z",
      "replay",
    ],
    ["a send nobody dated is not sent again", key, { first_sent_at: undefined }, "2026-09-02T12:00:00.000Z", "unknown"],
    ["a query is asked, whatever the budget", query, { ...sent, attempt: 9 }, "2026-09-02T12:00:00.000Z", "lookup"],
    ["with neither, nobody can know", none(), sent, "2026-09-02T12:00:00.000Z", "unknown"],
  ];

  it.each(rows)("%s", (_behaviour, downstream, over, now, expected) => {
    const entry = anEntry("STARTED", over);
    expect(decideReconciliation(entry, downstream, Date.parse(now), 3, true).kind).toBe(expected);
  });

  const calledOff: readonly [string, Downstream, string][] = [
    ["a key is never sent again, since a replay may be the first to arrive", key, "unknown"],
    ["a lookup beside the key is asked", keyAndLookup, "lookup"],
    ["a query is asked as ever", query, "lookup"],
    ["with neither, nobody can know", none(), "unknown"],
  ];
  it.each(calledOff)("of a run that was called off: %s", (_behaviour, downstream, expected) => {
    const entry = anEntry("STARTED", sent);
    expect(decideReconciliation(entry, downstream, Date.parse("2026-09-02T12:02:00.000Z"), 3, false).kind).toBe(
      expected,
    );
  });

  it("says until when a key counts, and that other sides have no such end", () => {
    expect(keyUntilMs(anEntry("STARTED", sent), shortKey as Downstream)).toBe(at("12:09:00.000"));
    expect(keyUntilMs(anEntry("STARTED", sent), query as Downstream)).toBe(Infinity);
    expect(keyUntilMs(anEntry("STARTED", sent), none() as Downstream)).toBe(Infinity);
  });
});

describe("what a lookup's answer proves", () => {
  const lapsed = anEntry("STARTED", { lease_until: iso("12:01:00.000") });
  const settleMs = 120_000;
  const rows: readonly [string, Parameters<typeof judgeLookup>[0], string, object][] = [
    ["found counts at once", { found: { id: 1 } }, "12:01:00.000", { kind: "found", result: { id: 1 } }],
    [
      "not found before the settle time proves nothing",
      "not_found",
      "12:02:59.999",
      { kind: "come_back", atMs: at("12:03:00.000") },
    ],
    ["not found after the settle time means absent", "not_found", "12:03:00.000", { kind: "absent" }],
    ["no word before the settle time: ask again", "cannot_tell", "12:02:59.999", { kind: "come_back" }],
    ["no word after it: unknown", "cannot_tell", "12:03:00.000", { kind: "unknown" }],
  ];

  it.each(rows)("%s", (_behaviour, answer, now, expected) => {
    expect(judgeLookup(answer, lapsed, at(now), settleMs)).toMatchObject(expected);
  });

  it("settles from the last change where no lease is left", () => {
    const parked = anEntry("UNKNOWN", { updated_at: iso("12:10:00.000") });
    expect(judgeLookup("not_found", parked, at("12:11:59.999"), settleMs).kind).toBe("come_back");
    expect(judgeLookup("not_found", parked, at("12:12:00.000"), settleMs).kind).toBe("absent");
  });

  it.each([null, undefined, "found", {}, 7])("takes the foreign answer %j for no word", (answer) => {
    const foreign = answer as Parameters<typeof judgeLookup>[0];
    expect(judgeLookup(foreign, lapsed, at("12:03:00.000"), settleMs).kind).toBe("unknown");
  });
});
