import { describe, expect, it } from "vitest";
import { compareContracts } from "../../../shared/contract/compare-contracts.ts";
import { runsInWords } from "../../../shared/contract/hurt.ts";
import { manifestOf } from "../../../shared/contract/manifest.ts";
import { contractChanges } from "./contract-changes-table.ts";
import { type Parts, paymentAgent } from "./payment-agent.ts";

/** `verdict for runs …`, once each. */
function judged(parts: Parts, before: Parts): { readonly verdict: string; readonly who: readonly string[] } {
  const { verdict, nodes } = compareContracts(manifestOf(paymentAgent(before)), manifestOf(paymentAgent(parts)));
  const who = nodes.flatMap(({ hurts }) => hurts.map(({ comesTo, runs }) => `${comesTo} for ${runsInWords(runs)}`));
  return { verdict, who: [...new Set(who)].sort() };
}

describe("another contract than the one that open runs rely on", () => {
  it.each(contractChanges)("in $what", ({ parts, was, verdict, who }) => {
    expect(judged(parts, was)).toEqual({ verdict, who: [...who].sort() });
  });
});
