import { beforeAll, describe, expect, it } from "vitest";
import { emptyWorld, routedAgent } from "../builders/agents.ts";
import { agentStack, asText, ofType, refund, type Resource, resourcesOf, synthesisMsMax } from "./synthesized-stack.ts";

interface Registry extends Resource {
  readonly DependsOn?: readonly string[];
}

const registryOf = (resources: ReadonlyMap<string, Resource>): Registry => {
  const [registry, ...more] = ofType(resources, "Custom::SurefootReleases");
  if (!registry || more.length > 0) throw new Error("expected one registry of releases in the template");
  return registry;
};

let resources: ReadonlyMap<string, Resource>;
let registry: Registry;
beforeAll(() => {
  resources = resourcesOf(agentStack());
  registry = registryOf(resources);
}, synthesisMsMax);

describe("the registry of releases in a stack", () => {
  it("is told each agent's version, contract and states, so that it changes whenever one of them does", () => {
    const { Agents, AbandonRuns } = registry.Properties;
    expect(AbandonRuns).toEqual([]);
    expect(Agents).toEqual([
      {
        Name: "refund-agent",
        WorkflowVersion: 1,
        ContractDigest: expect.stringMatching(/^[0-9a-f]{64}$/u),
        StateMachineArn: { "Fn::GetAtt": [expect.stringMatching(/^refundagentVersion/u), "Arn"] },
      },
    ]);
    const another = { ...refund, agent: { ...refund.agent, stepsMax: 9 } };
    const [changed] = registryOf(resourcesOf(agentStack({ agents: [another] }))).Properties.Agents;
    expect(changed.ContractDigest).not.toBe(Agents[0].ContractDigest);
  });

  it("asks one function, by a name that stays, within five minutes", () => {
    expect(asText(registry.Properties.ServiceToken, resources)).toBe("Release/Function");
    expect(registry.Properties.ServiceTimeout).toBe("300");
    const release = ofType(resources, "AWS::Lambda::Function").find(({ path }) => path === "Release/Function");
    expect(release?.Properties.Timeout).toBe(120);
  });

  it("comes after everything else, and so is refused before anything is deleted", () => {
    const waitsFor = new Set(registry.DependsOn);
    const others = [...resources.values()].filter(
      ({ id, Type }) => id !== registry.id && !["AWS::CDK::Metadata"].includes(Type),
    );
    expect(others.filter(({ id }) => !waitsFor.has(id)).map(({ path }) => path)).toEqual([]);
  });

  it("holds every agent of the stack, and whose runs somebody gave up", () => {
    const routed = { agent: routedAgent(emptyWorld()), modulePath: "never/bundled.ts" };
    const context = { "surefoot:abandonRuns": "old-agent, older-agent" };
    const { Agents, AbandonRuns } = registryOf(
      resourcesOf(agentStack({ agents: [refund, routed], context })),
    ).Properties;
    expect(Agents).toEqual([
      expect.objectContaining({ Name: "refund-agent" }),
      expect.objectContaining({ Name: "routed-agent" }),
    ]);
    expect(AbandonRuns).toEqual(["old-agent", "older-agent"]);
  });

  it("needs no function, role or log group beside its own", () => {
    const framework = [...resources.values()].filter(({ path }) => /framework|provider|custom/iu.test(path));
    expect(framework).toEqual([]);
  });
});

describe("the function that starts runs", () => {
  it("knows the contracts that its states were compiled from, so that it starts nothing in the middle of a deployment", () => {
    const start = ofType(resources, "AWS::Lambda::Function").find(({ path }) => path === "Start/Function");
    const [{ Name, ContractDigest }] = registry.Properties.Agents;
    expect(JSON.parse(start?.Properties.Environment.Variables.SUREFOOT_CONTRACTS)).toEqual({ [Name]: ContractDigest });
  });
});
