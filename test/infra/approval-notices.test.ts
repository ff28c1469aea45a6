import { App } from "aws-cdk-lib";
import { beforeAll, describe, expect, it } from "vitest";
import { contextOption } from "../../infra/context.ts";
import { parseKeyRing } from "../../shared/link/key-ring.ts";
import { grantedAccess } from "./granted-access.ts";
import { agentStack, asText, ofType, type Resource, resourcesOf, synthesisMsMax } from "./synthesized-stack.ts";

const ann = "ann@example.com";
const tellers = ["Decide", "Sweep", "Wait"] as const;

let resources: ReadonlyMap<string, Resource>;
beforeAll(() => {
  const notices = {
    approvers: { [ann]: "finance, lead", "arn:aws:iam::111122223333:user/bob": "", cleo: "" },
    eventBusName: "approvals",
    webhookSecretName: "chat/webhook",
    webhookApprover: "the-chat",
  };
  resources = resourcesOf(agentStack({ notices, publicUrl: "https://agents.example.com" }));
}, synthesisMsMax);

const variablesOf = (name: string): Readonly<Record<string, unknown>> =>
  ofType(resources, "AWS::Lambda::Function").find(({ path }) => path === `${name}/Function`)?.Properties.Environment
    .Variables;

describe("the key ring of links", () => {
  it("is made up by CloudFormation in a shape that is read as one, under the stack's key", () => {
    const [secret, ...more] = ofType(resources, "AWS::SecretsManager::Secret");
    expect(more).toEqual([]);
    const { GenerateSecretString: made, KmsKeyId } = secret?.Properties;
    expect(asText(KmsKeyId, resources)).toBe("Store/Key");
    expect(made).toMatchObject({ PasswordLength: 64, ExcludePunctuation: true });
    const stored = {
      ...JSON.parse(made.SecretStringTemplate as string),
      [made.GenerateStringKey]: "aB3".repeat(22).slice(0, 64),
    };
    const ring = parseKeyRing(JSON.stringify(stored));
    expect(ring.current).toBe("initial");
    expect(ring.keys.get("initial")).toHaveLength(48);
  });
});

describe("the topic", () => {
  it("is encrypted, and refuses whoever comes without TLS", () => {
    const [topic] = ofType(resources, "AWS::SNS::Topic");
    expect(asText(topic?.Properties.KmsMasterKeyId, resources)).toBe("Store/Key");
    const [policy] = ofType(resources, "AWS::SNS::TopicPolicy");
    expect(policy?.Properties.PolicyDocument.Statement).toMatchObject([
      { Effect: "Deny", Condition: { Bool: { "aws:SecureTransport": "false" } } },
    ]);
  });

  it("mails each approver who has an address their own messages, and nobody else's links", () => {
    const subscriptions = ofType(resources, "AWS::SNS::Subscription").map(({ Properties }) => Properties);
    expect(subscriptions).toMatchObject([{ Protocol: "email", Endpoint: ann, FilterPolicy: { approver: [ann] } }]);
    expect(subscriptions).toHaveLength(1);
  });
});

describe("whoever tells people", () => {
  it.each(tellers)("%s is told where, in whose name, and at which address", (name) => {
    expect(variablesOf(name)).toMatchObject({
      SUREFOOT_PUBLIC_URL: "https://agents.example.com",
      SUREFOOT_NOTICE_BUS: "approvals",
      SUREFOOT_WEBHOOK_SECRET: "chat/webhook",
      SUREFOOT_WEBHOOK_APPROVER: "the-chat",
      SUREFOOT_APPROVERS: JSON.stringify({
        [ann]: "finance, lead",
        "arn:aws:iam::111122223333:user/bob": "",
        cleo: "",
      }),
    });
  });

  it("may read the chat's address and publish to the named bus as Surefoot alone; who opens links may not", () => {
    const granted = grantedAccess(resources);
    const secret = "arn:{Partition}:secretsmanager:{Region}:{AccountId}:secret:chat/webhook-??????";
    const bus = "arn:{Partition}:events:{Region}:{AccountId}:event-bus/approvals";
    for (const name of tellers) {
      expect(granted[name]).toMatchObject({ [secret]: ["secretsmanager:GetSecretValue"], [bus]: ["events:PutEvents"] });
    }
    const others = Object.keys(granted).filter((name) => !tellers.some((teller) => teller === name));
    expect(others).toContain("Review");
    for (const name of others) {
      expect(
        Object.keys(granted[name] ?? {}).filter((it) => it === secret || it === bus || it.includes("Topic")),
      ).toEqual([]);
    }
    const statements = ofType(resources, "AWS::IAM::Policy").flatMap(
      ({ Properties }) => Properties.PolicyDocument.Statement as { Action: string; Condition?: unknown }[],
    );
    const puts = statements.filter(({ Action }) => Action === "events:PutEvents");
    expect(puts).toHaveLength(3);
  });
});

describe("the alarms", () => {
  it("ring when nobody could be told", () => {
    const alarm = ofType(resources, "AWS::CloudWatch::Alarm").find(
      ({ Properties }) => Properties.MetricName === "approval_notice_failed_total",
    );
    expect(alarm?.Properties).toMatchObject({ Threshold: 1, TreatMissingData: "notBreaching" });
    expect(alarm?.Properties.AlarmDescription).toMatch(/surefoot approvals lists what waits/u);
  });
});

describe("an option of the context", () => {
  it("is there where it says something", () => {
    const { node } = new App({ context: { "surefoot:eventBus": "approvals" } });
    expect(contextOption(node, "surefoot:eventBus", "eventBusName")).toEqual({ eventBusName: "approvals" });
    expect(contextOption(node, "surefoot:publicUrl", "publicUrl")).toEqual({});
  });
});
