import { describe, expect, it } from "vitest";
import { undoneOperation } from "../../../shared/operation/undone-operation.ts";

const entry = { run_id: "agt_20260902_001", business_key: "ORD-20260902-001" };

describe("the operation that another one undoes", () => {
  it("is the one of its write, under the same business key, where the write stood", () => {
    expect(undoneOperation({ ...entry, position: "0003.create_refund.compensate" })).toEqual({
      operationId: "c5a7394039e6198cb3d349d6f88e9b38",
      write: "create_refund",
      position: "0003.create_refund",
    });
  });

  it.each(["0003.create_refund", "0003.compensate", "nowhere"])("is none for one that stands at %s", (position) => {
    expect(undoneOperation({ ...entry, position })).toBeUndefined();
  });
});
