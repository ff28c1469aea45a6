import fc from "fast-check";
import { expect, test } from "vitest";
import { generatedCase } from "./generated-case.ts";
import { useInterpreters } from "./interpreters.ts";
import { describeWithMoto } from "./moto.ts";

/** About half a second each on two idle cores. */
const runs = 80;
/** Where the machine is busy, fewer definitions are tried, and the suite still ends. */
const timeLimitMs = 120_000;
/** `ORACLE_SEED=<number>` repeats a run. */
const seed = Number(process.env["ORACLE_SEED"] ?? Date.now() % 2 ** 31);

describeWithMoto("generated definitions", (start) => {
  const both = useInterpreters(start);

  test("come to the same in both interpreters, whatever their functions do", { timeout: 400_000 }, async () => {
    let tried = 0;
    let retried = 0;
    const ends = new Map<string, number>();
    const property = fc.asyncProperty(generatedCase(), async (one) => {
      const outcome = await both().agree(one);
      tried += 1;
      if (Object.keys(outcome.pauses).length > 0) retried += 1;
      ends.set(outcome.status ?? "", (ends.get(outcome.status ?? "") ?? 0) + 1);
    });
    console.info(`ORACLE_SEED=${seed}`);
    try {
      await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: timeLimitMs });
    } finally {
      console.info(`${tried} definitions agreed, ${retried} of them with retries: ${JSON.stringify([...ends])}`);
    }
    // Else they were all alike and agreeing told nothing.
    expect(retried).toBeGreaterThan(tried / 10);
    expect([...ends.keys()].sort()).toEqual(["FAILED", "SUCCEEDED"]);
  });
});
