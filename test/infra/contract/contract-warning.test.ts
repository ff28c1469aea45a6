import { writeFileSync } from "node:fs";
import { Annotations, Match } from "aws-cdk-lib/assertions";
import { describe, expect, it } from "vitest";
import { contractWarning } from "../../../infra/contract/contract-warning.ts";
import { writeRelease } from "../../../infra/contract/contract-files.ts";
import { type Agent, manifestOf } from "../../../shared/index.ts";
import { paymentAgent, riskCheck } from "../../shared/contract/payment-agent.ts";
import { agentStack, refund, synthesisMsMax } from "../synthesized-stack.ts";
import { agentFolders } from "./agent-modules.ts";

const newFolder = agentFolders();
const released = () => {
  const folder = newFolder();
  const agentModule = folder.path("agent.ts");
  writeRelease(agentModule, manifestOf(paymentAgent()));
  return { folder, warningOf: (agent: Agent) => contractWarning(agentModule, manifestOf(agent)) };
};

describe("a synthesis", () => {
  it("says nothing where the agent is what was released, or keeps no releases", () => {
    expect(released().warningOf(paymentAgent())).toBeUndefined();
    expect(contractWarning(newFolder().path("agent.ts"), manifestOf(paymentAgent()))).toBeUndefined();
  });

  it("warns of another contract under the version, and of a version without one", () => {
    const { warningOf } = released();
    expect(warningOf(paymentAgent({ before: { payment: riskCheck } }))).toMatch(
      /^shop version 7 is not what was released as .*contracts\/7\.json \(incompatible\): surefoot contract check says what changed$/,
    );
    expect(warningOf(paymentAgent({ version: 8 }))).toMatch(
      /^shop version 8 has no released contract: surefoot contract release writes .*contracts\/8\.json$/,
    );
  });

  it("warns of a release that cannot be read, instead of failing", () => {
    const { folder, warningOf } = released();
    writeFileSync(folder.path("contracts", "7.json"), "{");
    expect(warningOf(paymentAgent())).toMatch(/7\.json cannot be read: .*: restore it from version control$/);
  });

  it(
    "of the shipped stack carries the warning to whoever deploys, and none where all is well",
    () => {
      const found = (agent: Agent) =>
        Annotations.fromStack(agentStack({ agents: [{ ...refund, agent }] }))
          .findWarning("*", Match.stringLikeRegexp("released"))
          .map(({ entry }) => JSON.stringify(entry.data));
      expect(found(refund.agent)).toEqual([]);
      expect(found({ ...refund.agent, stepsMax: 9 })).toEqual([
        expect.stringMatching(/refund-agent version 1 is not what was released as .*1\.json \(compatible\)/),
      ]);
    },
    2 * synthesisMsMax,
  );
});
