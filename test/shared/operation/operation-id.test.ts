import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OperationId, operationId } from "../../../shared/index.ts";

describe("an operation id", () => {
  it("is the agreed one for the published test vector", () => {
    expect(operationId("agt_20260902_001", "create_refund", "ORD-20260902-001")).toBe(
      "c5a7394039e6198cb3d349d6f88e9b38",
    );
  });

  it("hashes the UTF-8 of a business key in any script", () => {
    // printf 'run-1:refund:註文-42/é' | sha256sum
    expect(operationId("run-1", "refund", "註文-42/é")).toBe("233610594137a6096c368ba0bc202ad6");
  });

  it.each([
    ["another run", operationId("agt_20260902_002", "create_refund", "ORD-20260902-001")],
    ["another step", operationId("agt_20260902_001", "create_refunds", "ORD-20260902-001")],
    ["another business key", operationId("agt_20260902_001", "create_refund", "ORD-20260902-002")],
  ])("differs for %s", (_what, id) => {
    expect(id).not.toBe("c5a7394039e6198cb3d349d6f88e9b38");
    expect(OperationId.safeParse(id).success).toBe(true);
  });

  it("is the same for the same triple and never shared by two triples, colons in the business key included", () => {
    const name = fc.stringMatching(/^[a-z]{1,3}$/);
    const key = fc.string({ unit: fc.constantFrom("a", "b", ":", "/"), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.tuple(name, name, key), fc.tuple(name, name, key), (one, other) => {
        expect(operationId(...one) === operationId(...other)).toBe(one.join("\n") === other.join("\n"));
      }),
    );
  });
});
