import { beforeAll, describe, expect, it } from "vitest";
import { envNames } from "../../lambdas/env.ts";
import { type GrantedAccess, grantedAccess } from "./granted-access.ts";
import { agentStack, ofType, refund, type Resource, resourcesOf, synthesisMsMax } from "./synthesized-stack.ts";

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

/** Everything anybody may do, written out. A line more here is a decision. */
const expected: GrantedAccess = {
  "refund-agent/Step": {
    "refund-agent/Step/Log": toLog,
    "*": toTrace,
    "Store/Runs/Table": ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"],
    "Store/Ledger/Table": ["dynamodb:GetItem", "dynamodb:PutItem"],
    "Store/Payloads/Bucket/payloads/*": ["s3:GetObject", "s3:PutObject"],
    "Store/Key through dynamodb": keyToWrite,
    "Store/Key through s3": ["kms:Decrypt", "kms:GenerateDataKey"],
    "arn:{Partition}:bedrock:*::foundation-model/anthropic.*": ["bedrock:InvokeModel"],
    "arn:{Partition}:bedrock:*::foundation-model/amazon.*": ["bedrock:InvokeModel"],
    "arn:{Partition}:bedrock:{Region}:{AccountId}:inference-profile/*.anthropic.*": ["bedrock:InvokeModel"],
    "arn:{Partition}:bedrock:{Region}:{AccountId}:inference-profile/*.amazon.*": ["bedrock:InvokeModel"],
  },
  Wait: {
    "Wait/Log": toLog,
    "*": toTrace,
    "Store/Runs/Table": ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"],
    "Store/Payloads/Bucket/payloads/*": ["s3:GetObject", "s3:PutObject"],
    "Store/Key through dynamodb": keyToWrite,
    "Store/Key through s3": ["kms:Decrypt", "kms:GenerateDataKey"],
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
    "Store/Runs/Table/index/by-agent": ["dynamodb:Query"],
    "Store/Runs/Table/index/by-workflow": ["dynamodb:Query"],
    "Store/Runs/Table/index/open": ["dynamodb:Query"],
    "Store/Ledger/Table": ["dynamodb:GetItem", "dynamodb:Query"],
    "Store/Ledger/Table/index/by-run": ["dynamodb:Query"],
    "Store/Ledger/Table/index/open": ["dynamodb:Query"],
    "Store/Payloads/Bucket/payloads/*": ["s3:GetObject"],
    "Store/Key through dynamodb": keyToRead,
    "Store/Key through s3": ["kms:Decrypt"],
  },
  Decide: {
    "Decide/Log": toLog,
    "*": toTrace,
    "Store/Runs/Table": ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
    "Store/Payloads/Bucket/payloads/*": ["s3:GetObject", "s3:PutObject"],
    "Store/Key through dynamodb": keyToWrite,
    "Store/Key through s3": ["kms:Decrypt", "kms:GenerateDataKey"],
    "refund-agent/StateMachine": toAnswer,
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
    "the versions of this function: an execution from before a deployment runs on its old one",
  "Wait/Function:*": "the versions of this function, likewise",
  "Settle/Function:*": "the versions of this function, likewise",
  "arn:{Partition}:bedrock:*::foundation-model/anthropic.*":
    "a profile answers from any of its regions; ids hold release dates",
  "arn:{Partition}:bedrock:*::foundation-model/amazon.*": "likewise",
  "arn:{Partition}:bedrock:{Region}:{AccountId}:inference-profile/*.anthropic.*":
    "a profile's id begins with its geography",
  "arn:{Partition}:bedrock:{Region}:{AccountId}:inference-profile/*.amazon.*": "likewise",
};

describe("permissions", () => {
  let resources: ReadonlyMap<string, Resource>;
  let granted: GrantedAccess;
  beforeAll(() => {
    resources = resourcesOf(agentStack());
    granted = grantedAccess(resources);
  }, synthesisMsMax);

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
    expect(new Set(roles).size).toBe(6);
  });

  it("let only API Gateway invoke a function from outside, and only on this API's routes", () => {
    const permissions = ofType(resources, "AWS::Lambda::Permission");
    expect(permissions).toHaveLength(7);
    for (const { Properties } of permissions) {
      expect(Properties.Principal).toBe("apigateway.amazonaws.com");
      expect(JSON.stringify(Properties.SourceArn)).toContain("ApiHttpApi");
    }
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
