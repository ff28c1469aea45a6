import { describe, expect, it } from "vitest";
import { readBatchResponse } from "../../../../infra/local/sqs/batch-response.ts";

const batch = ["m1", "m2"];

describe("a function's answer to a batch", () => {
  it.each([
    ["nothing", undefined],
    ["null", null],
    ["an empty object", {}],
    ["an object about something else", { sent: 2 }],
    ["a null list", { batchItemFailures: null }],
    ["an empty list", { batchItemFailures: [] }],
  ])("means success of all messages when it is %s", (_what, returned) => {
    expect(readBatchResponse(returned, batch)).toEqual({ kind: "read", failedIds: new Set() });
  });

  it("names the messages that failed, each once", () => {
    const returned = { batchItemFailures: [{ itemIdentifier: "m2" }, { itemIdentifier: "m2" }] };
    expect(readBatchResponse(returned, batch)).toEqual({ kind: "read", failedIds: new Set(["m2"]) });
  });

  it.each([
    [
      "an unknown identifier beside a known one",
      { batchItemFailures: [{ itemIdentifier: "m1" }, { itemIdentifier: "m9" }] },
    ],
    ["an empty identifier", { batchItemFailures: [{ itemIdentifier: "" }] }],
    ["a null identifier", { batchItemFailures: [{ itemIdentifier: null }] }],
    ["a misspelt key", { batchItemFailures: [{ ItemIdentifier: "m1" }] }],
    ["bare identifiers", { batchItemFailures: ["m1"] }],
    ["no list", { batchItemFailures: "m1" }],
    ["a text", "done"],
    ["a list", []],
  ])("fails the entire batch when it has %s", (_what, returned) => {
    expect(readBatchResponse(returned, batch).kind).toBe("invalid");
  });

  it("says what was expected and found where it cannot be read", () => {
    expect(readBatchResponse({ batchItemFailures: [{ itemIdentifier: "m9" }] }, batch)).toEqual({
      kind: "invalid",
      why: 'expected an itemIdentifier out of m1, m2, found {"itemIdentifier":"m9"}: return { batchItemFailures: [{ itemIdentifier }] }',
    });
  });
});
