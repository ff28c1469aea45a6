import { beforeAll, describe, expect, it } from "vitest";
import { envNames } from "../../lambdas/env.ts";
import { type GrantedAccess, grantedAccess } from "./granted-access.ts";
import { agentStack, asText, ofType, refund, type Resource, resourcesOf, synthesisMsMax } from "./synthesized-stack.ts";

const toLog = ["logs:CreateLogStream", "logs:PutLogEvents"];
const toTrace = ["xray:PutTelemetryRecords", "xray:PutTraceSegments"];
const keyToRead = ["kms:Decrypt", "kms:DescribeKey"];
const keyToWrite = [
  "kms:Decrypt",
  "kms:DescribeKey",
  "kms:Encrypt",
  "kms:GenerateDataKey",
  "kms:GenerateDataKeyWithoutPlaintext",
  "kms:ReEncryptFrom",
  "kms:ReEncryptTo",
];
const toAnswer = ["states:SendTaskFailure", "states:SendTaskSuccess"];
const toAnswerAndStart = [...toAnswer, "states:StartExecution"];
const toSend = {
  "Deliveries/Queue": ["sqs:SendMessage"],
  "Store/Key through sqs": ["kms:Decrypt", "kms:GenerateDataKey"],
};
/** Whoever tells people signs links, and publishes to the topic and to the account's bus, in Surefoot's name alone. */
const toOpenLinks = {
  "Notices/LinkKeys": ["secretsmanager:GetSecretValue"],
  "Store/Key through secretsmanager": ["kms:Decrypt"],
};
const toTell = {
  ...toOpenLinks,
  "Notices/Topic": ["sns:Publish"],
  "Store/Key through sns": ["kms:Decrypt", "kms:GenerateDataKey"],
  "arn:{Partition}:events:{Region}:{AccountId}:event-bus/default": ["events:PutEvents"],
};
const everyRunRecord = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"];
const ledgerIndexes = {
  "Store/Ledger/Table/index/by-run": ["dynamodb:Query"],
  "Store/Ledger/Table/index/open": ["dynamodb:Query"],
};
const runIndexes = {
  "Store/Runs/Table/index/by-agent": ["dynamodb:Query"],
  "Store/Runs/Table/index/by-workflow": ["dynamodb:Query"],
  "Store/Runs/Table/index/open": ["dynamodb:Query"],
};
const openRuns = { "Store/Runs/Table/index/open": ["dynamodb:Query"] };

/** Everything anybody may do, written out. A line more here is a decision. */
const expected: GrantedAccess = {
  "refund-agent/Step": {
    "refund-agent/Step/Log": toLog,
    "*": toTrace,
    "Store/Runs/Table": everyRunRecord,
    "Store/Ledger/Table": ["dynamodb:GetItem", "dynamodb:PutItem"],
    "Store/Ledger/Table/index/by-run": ["dynamodb:Query"],
    "Store/Payloads/Bucket/payloads/*": ["s3:GetObject", "s3:PutObject"],
    "Store/Key through dynamodb": keyToWrite,
    "Store/Key through s3": ["kms:Decrypt", "kms:GenerateDataKey"],
    ...toSend,
    "arn:{Partition}:bedrock:*::foundation-model/anthropic.*": ["bedrock:InvokeModel"],
    "arn:{Partition}:bedrock:*::foundation-model/amazon.*": ["bedrock:InvokeModel"],
    "arn:{Partition}:bedrock:{Region}:{AccountId}:inference-profile/*.anthropic.*": ["bedrock:InvokeModel"],
    "arn:{Partition}:bedrock:{Region}:{AccountId}:inference-profile/*.amazon.*": ["bedrock:InvokeModel"],
  },
  Wait: {
    "Wait/Log": toLog,
    "*": toTrace,
    "Store/Runs/Table": everyRunRecord,
    "Store/Ledger/Table": ["dynamodb:GetItem"],
    "Store/Payloads/Bucket/payloads/*": ["s3:GetObject", "s3:PutObject"],
    "Store/Key through dynamodb": keyToWrite,
    "Store/Key through s3": ["kms:Decrypt", "kms:GenerateDataKey"],
    ...toTell,
    "refund-agent/StateMachine": toAnswer,
  },
  Settle: {
    "Settle/Log": toLog,
    "*": toTrace,
    "Store/Runs/Table": ["dynamodb:GetItem", "dynamodb:Query", "dynamodb:UpdateItem"],
    "Store/Key through dynamodb": keyToWrite,
  },
  Start: {
    "Start/Log": toLog,
    "*": toTrace,
    "Store/Runs/Table": ["dynamodb:GetItem", "dynamodb:PutItem"],
    "Store/Payloads/Bucket/payloads/*": ["s3:PutObject"],
    "Store/Key through dynamodb": keyToWrite,
    "Store/Key through s3": ["kms:GenerateDataKey"],
    "refund-agent/StateMachine": ["states:StartExecution"],
  },
  Read: {
    "Read/Log": toLog,
    "*": toTrace,
    "Store/Runs/Table": ["dynamodb:GetItem", "dynamodb:Query"],
    ...runIndexes,
    "Store/Ledger/Table": ["dynamodb:GetItem"],
    ...ledgerIndexes,
    "Store/Payloads/Bucket/payloads/*": ["s3:GetObject"],
    "Store/Key through dynamodb": keyToRead,
    "Store/Key through s3": ["kms:Decrypt"],
  },
  Decide: {
    "Decide/Log": toLog,
    "*": toTrace,
    "Store/Runs/Table": everyRunRecord,
    "Store/Payloads/Bucket/payloads/*": ["s3:GetObject", "s3:PutObject"],
    "Store/Key through dynamodb": keyToWrite,
    "Store/Key through s3": ["kms:Decrypt", "kms:GenerateDataKey"],
    ...toTell,
    "refund-agent/StateMachine": toAnswer,
  },
  // Public: it decides like the function before it, and neither lists, starts, nor tells anybody.
  Review: {
    "Review/Log": toLog,
    "*": toTrace,
    "Store/Runs/Table": everyRunRecord,
    "Store/Payloads/Bucket/payloads/*": ["s3:GetObject", "s3:PutObject"],
    "Store/Key through dynamodb": keyToWrite,
    "Store/Key through s3": ["kms:Decrypt", "kms:GenerateDataKey"],
    ...toOpenLinks,
    "refund-agent/StateMachine": toAnswer,
  },
  Control: {
    "Control/Log": toLog,
    "*": toTrace,
    "Store/Runs/Table": everyRunRecord,
    ...openRuns,
    "Store/Ledger/Table": ["dynamodb:GetItem", "dynamodb:PutItem"],
    ...ledgerIndexes,
    "Store/Payloads/Bucket/payloads/*": ["s3:GetObject", "s3:PutObject"],
    "Store/Key through dynamodb": keyToWrite,
    "Store/Key through s3": ["kms:Decrypt", "kms:GenerateDataKey"],
    "refund-agent/StateMachine": toAnswerAndStart,
  },
  Sweep: {
    "Sweep/Log": toLog,
    "*": toTrace,
    "Store/Runs/Table": everyRunRecord,
    ...runIndexes,
    "Store/Ledger/Table": ["dynamodb:GetItem"],
    ...ledgerIndexes,
    "Store/Payloads/Bucket/payloads/*": ["s3:GetObject", "s3:PutObject"],
    "Store/Key through dynamodb": keyToWrite,
    "Store/Key through s3": ["kms:Decrypt", "kms:GenerateDataKey"],
    ...toSend,
    ...toTell,
    "refund-agent/Step/Function:*": ["lambda:InvokeFunction"],
    "refund-agent/StateMachine": toAnswerAndStart,
    "arn:{Partition}:states:{Region}:{AccountId}:execution:refund-agent/StateMachine:*": ["states:DescribeExecution"],
  },
  Deliver: {
    "Deliver/Log": toLog,
    "*": toTrace,
    "Store/Runs/Table": ["dynamodb:GetItem", "dynamodb:Query", "dynamodb:UpdateItem"],
    "Store/Ledger/Table": ["dynamodb:GetItem"],
    "Store/Key through dynamodb": keyToWrite,
    "Deliveries/Queue": [
      "sqs:ChangeMessageVisibility",
      "sqs:DeleteMessage",
      "sqs:GetQueueAttributes",
      "sqs:ReceiveMessage",
    ],
    "Store/Key through sqs": ["kms:Decrypt"],
    "refund-agent/Step/Function:*": ["lambda:InvokeFunction"],
    "refund-agent/StateMachine": toAnswerAndStart,
  },
  // Asked by CloudFormation alone. It neither starts nor wakes a run.
  Release: {
    "Release/Log": toLog,
    "*": toTrace,
    "Store/Runs/Table": everyRunRecord,
    ...openRuns,
    "Store/Payloads/Bucket/payloads/*": ["s3:PutObject"],
    "Store/Key through dynamodb": keyToWrite,
    "Store/Key through s3": ["kms:GenerateDataKey"],
  },
  "refund-agent/StateMachine": {
    "refund-agent/Step/Function:*": ["lambda:InvokeFunction"],
    "Wait/Function:*": ["lambda:InvokeFunction"],
    "Settle/Function:*": ["lambda:InvokeFunction"],
    "*": [
      "logs:CreateLogDelivery",
      "logs:DeleteLogDelivery",
      "logs:DescribeLogGroups",
      "logs:DescribeResourcePolicies",
      "logs:GetLogDelivery",
      "logs:ListLogDeliveries",
      "logs:PutResourcePolicy",
      "logs:UpdateLogDelivery",
      "xray:GetSamplingRules",
      "xray:GetSamplingTargets",
      "xray:PutTelemetryRecords",
      "xray:PutTraceSegments",
    ],
  },
};

/** Every wildcard in a resource, and why nothing narrower will do. */
const wildcards: Readonly<Record<string, string>> = {
  "*": "X-Ray's actions and the log delivery of Step Functions name no resource (service authorization reference)",
  "Store/Payloads/Bucket/payloads/*": "objects are named by their content, under this one prefix",
  "refund-agent/Step/Function:*":
    "the versions of this function: an execution or operation from before a deployment runs on its old one",
  "Wait/Function:*": "the versions of this function, likewise",
  "Settle/Function:*": "the versions of this function, likewise",
  "arn:{Partition}:states:{Region}:{AccountId}:execution:refund-agent/StateMachine:*":
    "the executions of this machine: each has a name of its own, made when it starts",
  "arn:{Partition}:bedrock:*::foundation-model/anthropic.*":
    "a profile answers from any of its regions; ids hold release dates",
  "arn:{Partition}:bedrock:*::foundation-model/amazon.*": "likewise",
  "arn:{Partition}:bedrock:{Region}:{AccountId}:inference-profile/*.anthropic.*":
    "a profile's id begins with its geography",
  "arn:{Partition}:bedrock:{Region}:{AccountId}:inference-profile/*.amazon.*": "likewise",
};

let resources: ReadonlyMap<string, Resource>;
let granted: GrantedAccess;
beforeAll(() => {
  resources = resourcesOf(agentStack());
  granted = grantedAccess(resources);
}, synthesisMsMax);

describe("permissions", () => {
  it("are exactly these, per function and state machine", () => {
    expect(granted).toEqual(expected);
  });

  it("never name an action by wildcard", () => {
    const actions = Object.values(granted).flatMap((access) => Object.values(access).flat());
    expect(actions.filter((action) => action.includes("*"))).toEqual([]);
    expect(actions.length).toBeGreaterThan(50);
  });

  it("name a resource by wildcard only where a reason is written down", () => {
    const used = new Set(Object.values(granted).flatMap((access) => Object.keys(access)));
    expect([...used].filter((resource) => resource.includes("*")).sort()).toEqual(Object.keys(wildcards).sort());
  });

  it("belong to a role of each function's own", () => {
    const roles = ofType(resources, "AWS::Lambda::Function").map(({ Properties }) => Properties.Role["Fn::GetAtt"][0]);
    expect(new Set(roles).size).toBe(11);
  });

  it("reach the key through one service each, so that none of them unlocks what another keeps", () => {
    const keys = Object.values(granted).flatMap((access) =>
      Object.keys(access).filter((it) => it.startsWith("Store/Key")),
    );
    expect(new Set(keys)).toEqual(
      new Set(["dynamodb", "s3", "secretsmanager", "sns", "sqs"].map((service) => `Store/Key through ${service}`)),
    );
  });

  it("include no model of Bedrock where another provider answers", () => {
    const environment = { [envNames.modelProvider]: "anthropic" };
    const access = grantedAccess(resourcesOf(agentStack({ agents: [{ ...refund, environment }] })));
    expect(Object.keys(access["refund-agent/Step"] ?? {}).filter((resource) => resource.includes("bedrock"))).toEqual(
      [],
    );
  });

  it("narrow to the models that are named", () => {
    const bedrockModelArns = ["arn:aws:bedrock:eu-west-1::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0"];
    const access = grantedAccess(resourcesOf(agentStack({ agents: [{ ...refund, bedrockModelArns }] })));
    expect(Object.keys(access["refund-agent/Step"] ?? {}).filter((resource) => resource.includes("bedrock"))).toEqual(
      bedrockModelArns,
    );
  });
});

describe("who reaches a function from outside", () => {
  const invoked = ({ Properties }: Resource) => asText(Properties.FunctionName, resources);
  const permissionsOf = (principal: string) =>
    ofType(resources, "AWS::Lambda::Permission").filter(({ Properties }) => Properties.Principal === principal);

  it("is API Gateway, on the routes of this API and one permission each", () => {
    const permissions = permissionsOf("apigateway.amazonaws.com");
    const reached = permissions.map((permission) => {
      const source = asText(permission.Properties.SourceArn, resources);
      return `${invoked(permission)} <- ${source.split(":execute-api:{Region}:{AccountId}:")[1] ?? source}`;
    });
    expect(reached.sort()).toEqual([
      "Control/Function <- Api/HttpApi/*/*/operations/{operation_id}/resolution",
      "Control/Function <- Api/HttpApi/*/*/releases/{agent}/{version}/retirement",
      "Control/Function <- Api/HttpApi/*/*/runs/{run_id}/cancel",
      "Control/Function <- Api/HttpApi/*/*/runs/{run_id}/fork",
      "Control/Function <- Api/HttpApi/*/*/runs/{run_id}/resume",
      "Decide/Function <- Api/HttpApi/*/*/approvals/{waiter_id+}",
      "Read/Function <- Api/HttpApi/*/*/approvals",
      "Read/Function <- Api/HttpApi/*/*/approvals/{waiter_id+}",
      "Read/Function <- Api/HttpApi/*/*/contracts/{digest}",
      "Read/Function <- Api/HttpApi/*/*/operations",
      "Read/Function <- Api/HttpApi/*/*/releases",
      "Read/Function <- Api/HttpApi/*/*/runs",
      "Read/Function <- Api/HttpApi/*/*/runs/{run_id}",
      "Review/Function <- Api/HttpApi/*/*/review/{token}",
      "Review/Function <- Api/HttpApi/*/*/review/{token}",
      "Start/Function <- Api/HttpApi/*/*/runs",
    ]);
  });

  it("is EventBridge, by the one rule and to the sweep alone", () => {
    const [permission, ...more] = permissionsOf("events.amazonaws.com");
    expect(more).toEqual([]);
    expect(permission && invoked(permission)).toBe("Sweep/Function");
    expect(asText(permission?.Properties.SourceArn, resources)).toBe("SweepSchedule/Rule");
  });

  it("is the queue, to its worker alone, which takes messages in its own name", () => {
    const [mapping, ...more] = ofType(resources, "AWS::Lambda::EventSourceMapping");
    expect(more).toEqual([]);
    expect(mapping && invoked(mapping)).toBe("Deliver/Function");
    expect(asText(mapping?.Properties.EventSourceArn, resources)).toBe("Deliveries/Queue");
  });

  it("is nobody else", () => {
    const principals = ofType(resources, "AWS::Lambda::Permission").map(({ Properties }) => Properties.Principal);
    expect(new Set(principals)).toEqual(new Set(["apigateway.amazonaws.com", "events.amazonaws.com"]));
    expect(ofType(resources, "AWS::Lambda::Url")).toEqual([]);
  });
});

describe("the policies of what is shared", () => {
  it("let nobody in by themselves: those of queues, bucket and topic only refuse, the key's names this account", () => {
    const statements = ["AWS::SQS::QueuePolicy", "AWS::S3::BucketPolicy", "AWS::SNS::TopicPolicy"].flatMap((type) =>
      ofType(resources, type).flatMap(({ Properties }) => Properties.PolicyDocument.Statement as { Effect: string }[]),
    );
    expect(statements).toHaveLength(4);
    expect(statements.filter(({ Effect }) => Effect !== "Deny")).toEqual([]);
    const [key] = ofType(resources, "AWS::KMS::Key");
    const admitted = key?.Properties.KeyPolicy.Statement as readonly {
      readonly Principal: { readonly AWS: unknown };
    }[];
    // The second time because Secrets Manager uses the key for whoever may read the secret.
    const account = "arn:{Partition}:iam::{AccountId}:root";
    expect(admitted.map(({ Principal }) => asText(Principal.AWS, resources))).toEqual([account, account]);
  });
});
