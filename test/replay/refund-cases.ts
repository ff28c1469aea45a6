import type { RefundWorld } from "../builders/refund-world.ts";

export interface RefundCase {
  readonly name: string;
  /** Plays a run up to where it is recorded. @returns its id. */
  play(world: RefundWorld, workflowId: string): Promise<string>;
}

/** Above what is refunded without a person. */
const large = 6_000;
const small = 2_100;

const toApproval = async (world: RefundWorld, workflowId: string) => {
  const runId = await world.start(workflowId, large);
  await world.go();
  return runId;
};

/** Where runs of the refund agent stand when somebody deploys over them. */
export const refundCases: readonly RefundCase[] = [
  { name: "waits-at-approval", play: toApproval },
  {
    name: "asked-again-after-a-no",
    async play(world, workflowId) {
      const runId = await toApproval(world, workflowId);
      await world.decide(runId, "reject", "too much");
      await world.go();
      return runId;
    },
  },
  {
    name: "parked-after-a-failed-model",
    async play(world, workflowId) {
      const runId = await world.start(workflowId, large);
      // The plan is made, then the draft fails as often as its node's policy allows.
      world.dieAt({ when: "after", call: "log.append" });
      await world.go();
      world.failModels(3);
      for (let attempt = 0; attempt < 3; attempt++) {
        world.clock.advance(60_000);
        await world.go();
      }
      await world.giveUp(runId, "surefoot.retryable.draft");
      return runId;
    },
  },
  {
    name: "died-after-the-refund",
    async play(world, workflowId) {
      const runId = await toApproval(world, workflowId);
      await world.decide(runId, "approve");
      world.dieAt({ when: "before", call: "ledger.commit" });
      await world.go();
      return runId;
    },
  },
  {
    name: "waits-for-its-mail",
    async play(world, workflowId) {
      const runId = await world.start(workflowId, small);
      await world.go();
      return runId;
    },
  },
  {
    name: "completed",
    async play(world, workflowId) {
      const runId = await toApproval(world, workflowId);
      await world.decide(runId, "approve");
      await world.go();
      await world.deliver();
      await world.go();
      return runId;
    },
  },
];
