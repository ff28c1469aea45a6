import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FailureClass } from "../../../shared/faults/failure-class.ts";
import { Fault, FaultRecord, isFault } from "../../../shared/faults/fault.ts";
import {
  AgentDefinitionError,
  BadRequest,
  ComeBackLater,
  OperationConflict,
  OperationUnknown,
  RecordCorrupt,
  ReplayContractError,
  SentBack,
  StaleExecution,
} from "../../../shared/faults/faults.ts";
import { WireFault } from "../../../shared/faults/wire-fault.ts";

/** Facts are named by our own code. `__proto__` is no name there: zod drops it, as every reader of foreign JSON should. */
const factName = fc.stringMatching(/^[a-z][a-z_]{0,11}$/);
const facts = fc.dictionary(
  factName,
  fc.oneof(
    fc.string(),
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }),
  ),
);
const records = fc.record({
  code: fc.string({ minLength: 1, maxLength: 40 }),
  failure_class: fc.constantFrom(...FailureClass.options),
  message: fc.string({ maxLength: 2_000 }),
  facts,
});

describe("a fault's record", () => {
  it("holds what explains the fault, and nothing of its cause", () => {
    const fault = new Fault("http_500", "unknown", "the other side failed", {
      facts: { http_status: 500, node: "refund", sent: true },
      cause: new Error("card 4242 4242 4242 4242"),
      notBeforeMs: 1_800_000_000_000,
    });
    expect(fault.toRecord()).toEqual({
      code: "http_500",
      failure_class: "unknown",
      message: "the other side failed",
      facts: { http_status: 500, node: "refund", sent: true },
    });
  });

  it("survives storage: read, made a fault and stored again, it is the same record", () => {
    fc.assert(
      fc.property(records, (record) => {
        const stored: unknown = JSON.parse(JSON.stringify(record));
        expect(Fault.fromRecord(FaultRecord.parse(stored)).toRecord()).toEqual(JSON.parse(JSON.stringify(record)));
      }),
    );
  });

  it("takes no prototype from storage", () => {
    const stored: unknown = JSON.parse(
      '{"code":"c","failure_class":"final","message":"m","facts":{"__proto__":1,"a":2}}',
    );
    expect(Object.entries(FaultRecord.parse(stored).facts)).toEqual([["a", 2]]);
  });

  it("keeps a code that this version does not know", () => {
    const fault = Fault.fromRecord({ code: "from_the_future", failure_class: "final", message: "m", facts: { a: 1 } });
    expect(fault).toMatchObject({ code: "from_the_future", failureClass: "final", message: "m", facts: { a: 1 } });
    expect(fault.toRecord().code).toBe("from_the_future");
    expect(isFault(fault)).toBe(true);
  });

  it.each([
    ["an unknown class", { code: "c", failure_class: "maybe", message: "m", facts: {} }],
    ["no code", { failure_class: "final", message: "m", facts: {} }],
    ["a fact that is an object", { code: "c", failure_class: "final", message: "m", facts: { request: { card: 1 } } }],
  ])("with %s is refused, never read as a neighbour", (_what, record) => {
    expect(FaultRecord.safeParse(record).success).toBe(false);
  });

  it("written before facts existed reads as having none", () => {
    expect(FaultRecord.parse({ code: "c", failure_class: "final", message: "m" }).facts).toEqual({});
  });

  it("cuts texts, so that no answer of a provider outgrows the item it lies in", () => {
    const record = new Fault("c", "final", "m".repeat(1_000_000), {
      facts: { said: "s".repeat(1_000_000) },
    }).toRecord();
    expect(record.message).toBe("m".repeat(2_000));
    expect(record.facts["said"]).toBe("s".repeat(2_000));
  });

  it("never cuts a character in half", () => {
    const record = new Fault("c", "final", `${"m".repeat(1_999)}😀`).toRecord();
    expect(record.message).toBe("m".repeat(1_999));
  });

  it.each([
    [Number.NaN, "NaN"],
    [Number.POSITIVE_INFINITY, "Infinity"],
    [Number.NEGATIVE_INFINITY, "-Infinity"],
    [2 ** 60, "1152921504606847000"],
    [Number.MAX_SAFE_INTEGER, 9_007_199_254_740_991],
    [0.5, 0.5],
  ])("holds the number %s in a form that a table takes", (n, stored) => {
    const record = new Fault("c", "final", "m", { facts: { n } }).toRecord();
    expect(record.facts["n"]).toBe(stored);
    expect(FaultRecord.parse(record)).toEqual(record);
  });
});

describe("the faults that are caught by name", () => {
  it.each([
    [new AgentDefinitionError("a", "p"), "AgentDefinitionError", "agent_definition", "final"],
    [new OperationConflict("c5a7", "r", "a", "STARTED"), "OperationConflict", "operation_conflict", "final"],
    [new ComeBackLater("operation_in_flight", 1, "w"), "ComeBackLater", "operation_in_flight", "retryable"],
    [new OperationUnknown("c5a7", "w"), "OperationUnknown", "operation_unknown", "unknown"],
    [new ReplayContractError("r", "p", "x"), "ReplayContractError", "replay_contract", "final"],
    [new RecordCorrupt("w", "p"), "RecordCorrupt", "record_corrupt", "final"],
    [new StaleExecution("r", "e", "p"), "StaleExecution", "stale_execution", "final"],
    [new BadRequest("no_run", "m", 404), "BadRequest", "no_run", "final"],
    [new SentBack("n", "expired"), "SentBack", "sent_back", "final"],
  ] as const)("%s has a literal name, a code and a class", (fault, name, code, failureClass) => {
    expect({ name: fault.name, code: fault.code, failureClass: fault.failureClass }).toEqual({
      name,
      code,
      failureClass,
    });
    expect(fault).toBeInstanceOf(Fault);
    expect(FaultRecord.parse(fault.toRecord())).toEqual(fault.toRecord());
  });

  it("say what was expected, what was found and what to do", () => {
    expect(new OperationConflict("c5a7", "3f1c".repeat(16), "91ae".repeat(16), "SUCCEEDED").message).toBe(
      "operation c5a7 was recorded with request 3f1c3f1c3f1c (SUCCEEDED) but this one is 91ae91ae91ae: nothing was sent; change the business key or start a new run",
    );
    expect(new SentBack("refund", "precondition_failed", "already refunded").message).toBe(
      "refund was not dispatched: precondition_failed (already refunded)",
    );
  });

  it("cross to the state machine by the name they are given", () => {
    const fault = new WireFault("surefoot.retryable.plan", "run r at 0000.plan", new Error("why"));
    expect({ name: fault.name, message: fault.message }).toEqual({
      name: "surefoot.retryable.plan",
      message: "run r at 0000.plan",
    });
  });
});
