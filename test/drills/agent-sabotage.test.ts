import { describe, expect, it } from "vitest";
import type { Strike } from "../../infra/drill/strike.ts";
import type { AdmittedCall } from "../../infra/in-process/port-call.ts";
import * as sound from "./refund-cases.ts";
import { loadSabotaged, type Sabotage } from "./sabotage.ts";

interface Case {
  readonly sabotage: Sabotage;
  readonly kind: Strike["kind"];
  readonly fits: (call: AdmittedCall) => boolean;
  readonly broken: string;
}

const wakeUp = ({ verb }: AdmittedCall) => verb === "SendTaskSuccess";

const cases: readonly Case[] = [
  {
    sabotage: {
      name: "a lost wake-up is not sent again",
      file: "shared/sweep/sweep-waiter.ts",
      line: "if (step) {",
      becomes: "if (step?.node === 'nobody') {",
    },
    kind: "drop",
    fits: wakeUp,
    broken: "run_not_lost",
  },
  {
    sabotage: {
      name: "a lost queue message is not sent again",
      file: "shared/sweep/sweep-operation.ts",
      line: "if (!lost || !(await isWaitedFor(entry, ports))) return",
      becomes: "if (lost || true) return",
    },
    kind: "drop",
    fits: ({ port }) => port === "queue",
    broken: "run_not_lost",
  },
];

describe("a sabotaged runtime is caught by the drill of an agent", () => {
  it.each(cases.map((one) => [one.sabotage.name, one] as const))(
    "%s",
    async (_name, { sabotage, kind, fits, broken }) => {
      expect(await sound.refundCase(kind, fits)).toEqual([]);
      const { refundCase } = await loadSabotaged<typeof sound>("test/drills/refund-cases.ts", sabotage);
      const violations = await refundCase(kind, fits);
      expect(violations.map(({ invariant }) => invariant)).toContain(broken);
    },
    120_000,
  );
});
