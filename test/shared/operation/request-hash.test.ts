import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { requestHash } from "../../../shared/index.ts";

const fields = ["paymentId", "amountCents"];
const request = { paymentId: "pay_1", amountCents: 1_250 };
/** sha256 of {"amountCents":1250,"paymentId":"pay_1"} */
const itsHash = "8db51fb297592f153f9210b5cfe0032ac1cfaca90ab6612a0ca601353d096a9c";

describe("a request hash", () => {
  it("is the digest of the canonical JSON of the declared fields", () => {
    expect(requestHash(request, fields)).toBe(itsHash);
  });

  it.each([
    ["the order of keys", { amountCents: 1_250, paymentId: "pay_1" }, fields],
    ["the order of the declared fields", request, ["amountCents", "paymentId"]],
    ["how a number is spelled", JSON.parse('{ "paymentId": "pay_1", "amountCents": 1250.0 }'), fields],
    ["a number's exponent", JSON.parse('{ "paymentId": "pay_1", "amountCents": 1.25e3 }'), fields],
    ["undeclared fields", { ...request, note: "sorry", trace: { id: 7 } }, fields],
    ["a declared field that is absent or undefined", { ...request, currency: undefined }, [...fields, "currency"]],
    ["a field declared twice", request, [...fields, "amountCents"]],
  ])("ignores %s", (_what, same, declared) => {
    expect(requestHash(same, declared)).toBe(itsHash);
  });

  it.each([
    ["amount", { ...request, amountCents: 1_251 }, fields],
    ["payment", { ...request, paymentId: "pay_2" }, fields],
    ["type", { ...request, amountCents: "1250" }, fields],
    ["null in place of nothing", { ...request, currency: null }, [...fields, "currency"]],
    ["field declared as meaningful", { ...request, note: "sorry" }, [...fields, "note"]],
  ])("changes with another %s", (_what, other, declared) => {
    expect(requestHash(other, declared)).not.toBe(itsHash);
  });

  it("looks at the order inside arrays, never inside objects", () => {
    const hash = (lines: unknown) => requestHash({ lines }, ["lines"]);
    expect(hash([{ sku: "a", n: 1 }, { sku: "b" }])).toBe(hash([{ n: 1, sku: "a" }, { sku: "b" }]));
    expect(hash([{ sku: "a", n: 1 }, { sku: "b" }])).not.toBe(hash([{ sku: "b" }, { sku: "a", n: 1 }]));
  });

  it("survives the way through a table: stored as JSON and read again, a request hashes the same", () => {
    fc.assert(
      fc.property(fc.record({ paymentId: fc.string({ unit: "binary" }), amountCents: fc.integer() }), (any) => {
        expect(requestHash(JSON.parse(JSON.stringify(any)), fields)).toBe(requestHash(any, fields));
      }),
    );
  });
});
