import { createRequire } from "node:module";
import { getLanguageService, TextDocument } from "amazon-states-language-service";
import { beforeAll, describe, expect, it } from "vitest";
import { agentStack, asText, ofType, refund, type Resource, resourcesOf, synthesisMsMax } from "./synthesized-stack.ts";
import { approvalFirstAgent, emptyWorld, routedAgent } from "../builders/agents.ts";

interface Task {
  readonly Type: string;
  readonly Resource?: string;
  readonly Parameters?: { readonly FunctionName: string };
  readonly TimeoutSeconds?: number;
  readonly Retry?: readonly { readonly ErrorEquals: readonly string[]; readonly MaxAttempts: number }[];
}

interface Definition {
  readonly StartAt: string;
  readonly States: Readonly<Record<string, Task>>;
}

// The package has no types, and exports by assignment.
const validate = createRequire(import.meta.url)("asl-validator") as (
  definition: unknown,
  options: { readonly checkPaths: boolean; readonly checkArn: boolean },
) => { readonly isValid: boolean; readonly errorsText: () => string };

const language = getLanguageService({});

/** What the states language service finds, each with its line. */
async function complaintsAbout(definition: unknown): Promise<string[]> {
  const text = JSON.stringify(definition, null, 1);
  const document = TextDocument.create("file:///definition.asl.json", "asl", 1, text);
  const found = await language.doValidation(document, language.parseJSONDocument(document));
  return found.map(({ message, range }) => `${range.start.line}: ${JSON.stringify(message)}`);
}

/** The definition as Step Functions gets it, with an ARN where the template refers to a resource. */
function deployed(machine: Resource): Definition {
  const arns = new Map(
    Object.keys(machine.Properties.DefinitionSubstitutions).map((name) => [
      name,
      `arn:aws:lambda:eu-west-1:123456789012:function:${name}:1`,
    ]),
  );
  const text = (machine.Properties.DefinitionString as string).replaceAll(
    /\$\{(\w+)\}/gu,
    (placeholder, name: string) => arns.get(name) ?? placeholder,
  );
  return JSON.parse(text);
}

const tasksOf = ({ States }: Definition) => Object.entries(States).filter(([, state]) => state.Type === "Task");

const agentNames = ["refund-agent", "routed-agent", "approval-first-agent"] as const;

let resources: ReadonlyMap<string, Resource>;
const machineOf = (agent: string): Resource => {
  const machine = ofType(resources, "AWS::StepFunctions::StateMachine").find(
    ({ path }) => path === `${agent}/StateMachine`,
  );
  if (!machine) throw new Error(`the template has no state machine of ${agent}`);
  return machine;
};

beforeAll(() => {
  const agents = [
    refund,
    ...[routedAgent, approvalFirstAgent].map((make) => ({ ...refund, agent: make(emptyWorld()) })),
  ];
  resources = resourcesOf(agentStack({ agents }));
}, synthesisMsMax);

describe.each(agentNames)("the deployed definition of %s", (agent) => {
  it("passes asl-validator", () => {
    const { isValid, errorsText } = validate(deployed(machineOf(agent)), { checkPaths: true, checkArn: true });
    expect(isValid ? "" : errorsText()).toBe("");
  });

  it("passes the states language service", async () => {
    expect(await complaintsAbout(deployed(machineOf(agent)))).toEqual([]);
  });

  it("leaves no placeholder", () => {
    expect(JSON.stringify(deployed(machineOf(agent)))).not.toContain("${");
  });

  it("retries an error in one place of a task at most, and nothing by a name that covers others", () => {
    for (const [name, task] of tasksOf(deployed(machineOf(agent)))) {
      const retried = (task.Retry ?? []).flatMap(({ ErrorEquals }) => ErrorEquals);
      expect(retried, name).toEqual([...new Set(retried)]);
      expect(
        retried.filter((error) => ["States.ALL", "States.TaskFailed"].includes(error)),
        name,
      ).toEqual([]);
    }
  });

  it("has each service error of Lambda in one bounded entry of ours, never in CDK's own besides", () => {
    for (const [name, task] of tasksOf(deployed(machineOf(agent)))) {
      const entries = (task.Retry ?? []).filter(({ ErrorEquals }) => ErrorEquals.includes("Lambda.ServiceException"));
      expect(entries, name).toHaveLength(1);
      expect(entries, name).toEqual([expect.objectContaining({ MaxAttempts: 5, MaxDelaySeconds: 30 })]);
    }
  });

  it("repeats a timeout once at most, in an entry that names timeouts only", () => {
    const isTimeout = (error: string) => /^(surefoot\.timeout\..+|Sandbox\.Timedout|States\.Timeout)$/u.test(error);
    const entries = tasksOf(deployed(machineOf(agent))).flatMap(([, task]) => task.Retry ?? []);
    const withTimeouts = entries.filter(({ ErrorEquals }) => ErrorEquals.some(isTimeout));
    expect(withTimeouts.filter(({ ErrorEquals }) => !ErrorEquals.every(isTimeout))).toEqual([]);
    expect(withTimeouts.filter(({ MaxAttempts }) => MaxAttempts > 1)).toEqual([]);
    expect(withTimeouts.length).toBeGreaterThan(0);
  });

  it("lets no callback wait for ever, and no task either", () => {
    const tasks = tasksOf(deployed(machineOf(agent)));
    const callbacks = tasks.filter(([, task]) => task.Resource?.endsWith(".waitForTaskToken"));
    expect(callbacks.length).toBeGreaterThan(0);
    for (const [name, task] of tasks) expect(task.TimeoutSeconds, name).toBeGreaterThan(0);
  });

  it("does not give up on a function before the function itself has", () => {
    const timeoutOf = new Map(
      ofType(resources, "AWS::Lambda::Function").map(({ id, Properties }) => [id, Properties.Timeout as number]),
    );
    const { DefinitionSubstitutions } = machineOf(agent).Properties;
    for (const [name, task] of tasksOf(deployed(machineOf(agent)))) {
      const placeholder = task.Parameters?.FunctionName.split(":").at(-2) ?? "";
      const version = resources.get(DefinitionSubstitutions[placeholder].Ref);
      expect(task.TimeoutSeconds, name).toBeGreaterThan(
        timeoutOf.get(version?.Properties.FunctionName.Ref) ?? Infinity,
      );
    }
  });
});

describe("a state machine", () => {
  const versionOf = (stack: ReadonlyMap<string, Resource>, placeholder: string): Resource | undefined =>
    stack.get(
      ofType(stack, "AWS::StepFunctions::StateMachine")[0]?.Properties.DefinitionSubstitutions[placeholder].Ref,
    );

  it("runs published versions of its three functions, which outlive the deployment that replaces them", () => {
    const substitutions: Record<string, { Ref: string }> = machineOf("routed-agent").Properties.DefinitionSubstitutions;
    expect(substitutions).toEqual({
      StepFunctionArn: { Ref: expect.stringMatching(/^routedagentStepFunctionCurrentVersion/u) },
      WaitFunctionArn: { Ref: expect.stringMatching(/^WaitFunctionCurrentVersion/u) },
      SettleFunctionArn: { Ref: expect.stringMatching(/^SettleFunctionCurrentVersion/u) },
    });
    for (const { Ref } of Object.values(substitutions)) {
      expect(resources.get(Ref)).toMatchObject({
        Type: "AWS::Lambda::Version",
        DeletionPolicy: "Retain",
        UpdateReplacePolicy: "Retain",
      });
    }
  });

  it("gets another version of a function that changed, and keeps the one of a function that did not", () => {
    const after = resourcesOf(agentStack({ agents: [{ ...refund, environment: { MAIL_FROM: "new@example.com" } }] }));
    expect(versionOf(after, "StepFunctionArn")?.id).not.toBe(versionOf(resources, "StepFunctionArn")?.id);
    expect(versionOf(after, "WaitFunctionArn")?.id).toBe(versionOf(resources, "WaitFunctionArn")?.id);
  });

  it("is published as a version that is kept, and runs are started on that version; the alias that points at it moves", () => {
    const [version] = ofType(resources, "AWS::StepFunctions::StateMachineVersion");
    expect(version).toMatchObject({ DeletionPolicy: "Retain", UpdateReplacePolicy: "Retain" });
    expect(version?.Properties).toEqual({
      StateMachineArn: { Ref: machineOf("refund-agent").id },
      StateMachineRevisionId: { "Fn::GetAtt": [machineOf("refund-agent").id, "StateMachineRevisionId"] },
    });
    const [alias] = ofType(resources, "AWS::StepFunctions::StateMachineAlias");
    expect(alias?.Properties).toEqual({
      Name: "live",
      RoutingConfiguration: [{ StateMachineVersionArn: { "Fn::GetAtt": [version?.id, "Arn"] }, Weight: 100 }],
    });
    expect(startedBy(resources)).toBe(
      `{"refund-agent":"refund-agent/Version","routed-agent":"routed-agent/Version","approval-first-agent":"approval-first-agent/Version"}`,
    );
  });

  it("is started directly where an emulator has no versions", () => {
    const withoutVersions = resourcesOf(agentStack({ context: { "surefoot:stateMachineVersions": "false" } }));
    expect(ofType(withoutVersions, "AWS::StepFunctions::StateMachineVersion")).toEqual([]);
    expect(ofType(withoutVersions, "AWS::StepFunctions::StateMachineAlias")).toEqual([]);
    expect(startedBy(withoutVersions)).toBe(`{"refund-agent":"refund-agent/StateMachine"}`);
  });

  it("logs errors without what travels between the states, because a task token is a secret", () => {
    for (const { Properties } of ofType(resources, "AWS::StepFunctions::StateMachine")) {
      expect(Properties.LoggingConfiguration).toMatchObject({ Level: "ERROR", IncludeExecutionData: false });
      expect(Properties.TracingConfiguration).toEqual({ Enabled: true });
    }
  });
});

function startedBy(stack: ReadonlyMap<string, Resource>): string {
  const start = ofType(stack, "AWS::Lambda::Function").find(({ path }) => path === "Start/Function");
  return asText(start?.Properties.Environment.Variables.SUREFOOT_STATE_MACHINES, stack);
}

describe("the checks on definitions", () => {
  const broken = { StartAt: "Gone", States: { Lost: { Type: "Succeed" } } };

  it("find a broken definition with either validator", async () => {
    expect(validate(structuredClone(broken), { checkPaths: true, checkArn: true }).isValid).toBe(false);
    expect(await complaintsAbout(broken)).not.toEqual([]);
  });

  it("find a misspelt jitter strategy", async () => {
    const retry = [{ ErrorEquals: ["surefoot.later"], JitterStrategy: "SOME" }];
    const task = { Type: "Task", Resource: "arn:aws:states:::lambda:invoke", Retry: retry, End: true };
    expect(await complaintsAbout({ StartAt: "Step", States: { Step: task } })).toEqual([
      expect.stringContaining("Value is not accepted"),
    ]);
  });
});
