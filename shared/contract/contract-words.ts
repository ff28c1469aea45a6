import { type Hurt, runsInWords } from "./hurt.ts";
import type { ContractVerdict } from "./verdict.ts";

/** `breaking for runs at approval: the approval authorises a payment that has skipped risk_check` */
export const hurtInWords = (hurt: Hurt, verdict: ContractVerdict): string =>
  `${effects[verdict]} for ${runsInWords(hurt.runs)}: ${hurt.because}`;

const effects: Readonly<Record<ContractVerdict, string>> = {
  same: "nothing",
  compatible: "nothing",
  reapprove: "asked again",
  migrate: "migrated",
  incompatible: "breaking",
};

/** What a developer does about a change of contract. Empty where there is nothing to do. */
export function adviceInWords({
  verdict,
  from,
  to,
}: {
  readonly verdict: ContractVerdict;
  readonly from: number;
  readonly to: number;
}): readonly string[] {
  switch (verdict) {
    case "same":
    case "compatible":
      return [];
    case "migrate":
      return [`the registered migrations bring open runs of version ${from} along to version ${to}`];
    case "reapprove":
    case "incompatible":
      if (to < from) return [`take the change back, or give it a version above ${from}: versions only go up`];
      if (to === from) {
        return [
          `raise the version to ${from + 1} and release it: open runs stay on version ${from}, which ends them; or take the change back`,
        ];
      }
      return [
        `open runs of version ${from} stay on it until they end, as long as it is deployed beside version ${to}`,
        verdict === "reapprove"
          ? `one that is moved to version ${to} asks its person again`
          : `to bring them along, register a migration: migrations: [{ from: ${from}, to: ${to}, migrate: (state) => … }]`,
      ];
    default:
      return verdict satisfies never;
  }
}
