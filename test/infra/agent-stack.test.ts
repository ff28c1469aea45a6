import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type App, Stage } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { beforeAll, describe, expect, it } from "vitest";
import { AgentStack } from "../../infra/index.ts";
import { apiRoutes } from "../../lambdas/api-routes.ts";
import { agentStack, asText, ofType, refund, type Resource, resourcesOf, synthesisMsMax } from "./synthesized-stack.ts";

const bundleBytesMax = 5 * 1024 * 1024;

let stack: AgentStack;
let resources: ReadonlyMap<string, Resource>;
beforeAll(() => {
  stack = agentStack();
  resources = resourcesOf(stack);
}, synthesisMsMax);

describe("the bundles of the shipped stack", () => {
  it(
    "are one module each, under 5 MB, on a current runtime",
    () => {
      const bundled = agentStack({ bundle: true });
      const functions = ofType(resourcesOf(bundled), "AWS::Lambda::Function");
      const folder = stageOf(bundled).outdir;
      expect(functions.map(({ path }) => path).sort()).toEqual([
        "Control/Function",
        "Decide/Function",
        "Deliver/Function",
        "Read/Function",
        "Release/Function",
        "Review/Function",
        "Settle/Function",
        "Start/Function",
        "Sweep/Function",
        "Wait/Function",
        "refund-agent/Step/Function",
      ]);
      const keys = functions.map(({ Properties }) => String(Properties.Code.S3Key).replace(".zip", ""));
      expect(new Set(keys).size).toBe(11);
      for (const key of keys) {
        const asset = join(folder, `asset.${key}`);
        expect(readdirSync(asset).sort()).toEqual(["index.mjs", "index.mjs.map"]);
        expect(statSync(join(asset, "index.mjs")).size).toBeLessThan(bundleBytesMax);
        expect(readFileSync(join(asset, "index.mjs"), "utf8")).toMatch(/export\{.*handler/u);
      }
      for (const { Properties } of functions) {
        expect(Properties).toMatchObject({ Runtime: "nodejs24.x", Architectures: ["arm64"], Handler: "index.handler" });
      }
    },
    synthesisMsMax,
  );
});

const stageOf = (of: AgentStack) => Stage.of(of) as App;

describe("two stages in one account", () => {
  it("are two stacks that can be synthesised side by side", () => {
    const dev = agentStack({ stage: "dev" });
    const prod = new AgentStack(stageOf(dev), "Prod", { stage: "prod", agents: [refund] });
    expect([dev.stackName, prod.stackName]).toEqual(["surefoot-dev", "surefoot-prod"]);
    expect(prod.terminationProtection).toBe(true);
    expect(dev.terminationProtection).toBe(false);
  });

  it("give no resource a name that both would take", () => {
    const dev = physicalNames(resources);
    const prod = physicalNames(resourcesOf(agentStack({ stage: "prod" })));
    expect(dev.filter((name) => prod.includes(name))).toEqual([]);
    expect(dev.every((name) => name.startsWith("/aws/vendedlogs/"))).toBe(true);
    expect(dev).toHaveLength(2);
  });

  it("export nothing, so that no name is taken in the region", () => {
    const { Outputs } = Template.fromStack(stack).toJSON();
    expect(Object.values(Outputs as object).filter((output: object) => "Export" in output)).toEqual([]);
  });

  it("refuse a stage that does not fit into names", () => {
    expect(() => agentStack({ stage: "Prod_1" })).toThrow(/expected up to 20 of a-z 0-9 -.*found "Prod_1"/u);
  });
});

/** Names that CloudFormation would otherwise make up, of the types whose names are one per account and region. */
function physicalNames(template: ReadonlyMap<string, Resource>): readonly string[] {
  const nameOf: Readonly<Record<string, string>> = {
    "AWS::CloudWatch::Alarm": "AlarmName",
    "AWS::DynamoDB::Table": "TableName",
    "AWS::Events::Rule": "Name",
    "AWS::IAM::Role": "RoleName",
    "AWS::KMS::Alias": "AliasName",
    "AWS::Lambda::Function": "FunctionName",
    "AWS::Logs::LogGroup": "LogGroupName",
    "AWS::S3::Bucket": "BucketName",
    "AWS::SQS::Queue": "QueueName",
    "AWS::StepFunctions::StateMachine": "StateMachineName",
  };
  return [...template.values()].flatMap(({ Type, Properties }) => {
    const name: unknown = Properties[nameOf[Type] ?? ""];
    return name === undefined ? [] : [asText(name, template)];
  });
}

describe("the HTTP API", () => {
  it("has the routes of the table, and every one asks IAM but those whose address is the credential", () => {
    const routes = ofType(resources, "AWS::ApiGatewayV2::Route");
    expect(routes.map(({ Properties }) => Properties.RouteKey).sort()).toEqual(
      apiRoutes.map(({ method, path }) => `${method} ${path}`).sort(),
    );
    const asksNobody = routes.filter(({ Properties }) => Properties.AuthorizationType !== "AWS_IAM");
    expect(asksNobody.map(({ Properties }) => [Properties.RouteKey, Properties.AuthorizationType]).sort()).toEqual([
      ["GET /review/{token}", "NONE"],
      ["POST /review/{token}", "NONE"],
    ]);
  });

  it("logs who asked for which route, and nothing that a customer wrote", () => {
    const [stage] = ofType(resources, "AWS::ApiGatewayV2::Stage");
    const format: string = stage?.Properties.AccessLogSettings.Format;
    expect(format).toContain("$context.identity.userArn");
    expect(format).not.toMatch(/querystring|\$context\.path|body/u);
    expect(stage?.Properties.DefaultRouteSettings).toEqual({ ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 });
  });

  it("lets nobody use up the others' share by the routes that ask nobody", () => {
    const [stage] = ofType(resources, "AWS::ApiGatewayV2::Stage");
    const few = { ThrottlingRateLimit: 20, ThrottlingBurstLimit: 40 };
    expect(stage?.Properties.RouteSettings).toEqual({ "GET /review/{token}": few, "POST /review/{token}": few });
  });

  it("is refused without authorization", () => {
    expect(() => agentStack({ auth: "none-local-only" })).toThrow(/let anybody start runs and decide approvals/u);
  });

  it("goes without authorization where an emulator stands in for AWS", () => {
    const local = resourcesOf(agentStack({ auth: "none-local-only", context: { "surefoot:local": "true" } }));
    const [route] = ofType(local, "AWS::ApiGatewayV2::Route");
    expect(route?.Properties.AuthorizationType).toBe("NONE");
  });

  it("refuses a flag that is neither true nor false, instead of guessing", () => {
    const context = { "surefoot:local": "yes" };
    expect(() => agentStack({ auth: "none-local-only", context })).toThrow(/expected true or false, found "yes"/u);
  });
});

describe("the functions", () => {
  it("are told every name that their wiring reads", () => {
    const told = Object.fromEntries(
      ofType(resources, "AWS::Lambda::Function").map(({ path, Properties }) => [
        path,
        Object.keys(Properties.Environment.Variables)
          .filter((name) => name.startsWith("SUREFOOT_"))
          .sort(),
      ]),
    );
    const link = ["SUREFOOT_APPROVERS", "SUREFOOT_LINK_KEYS_SECRET"];
    const tell = [...link, "SUREFOOT_NOTICE_BUS", "SUREFOOT_NOTICE_TOPIC_ARN", "SUREFOOT_PUBLIC_URL"];
    const store = ["SUREFOOT_LEDGER_TABLE", "SUREFOOT_PAYLOADS_BUCKET", "SUREFOOT_RUNS_TABLE"];
    expect(told).toEqual({
      "refund-agent/Step/Function": ["SUREFOOT_AGENT", "SUREFOOT_DELIVERY_QUEUE_URL", ...store],
      "Wait/Function": [...store, ...tell].sort(),
      "Settle/Function": store,
      "Start/Function": [...store, "SUREFOOT_CONTRACTS", "SUREFOOT_STATE_MACHINES"].sort(),
      "Read/Function": ["SUREFOOT_AGENT_NAMES", ...store],
      "Decide/Function": [...store, ...tell].sort(),
      "Review/Function": [...store, ...link].sort(),
      "Control/Function": store,
      "Release/Function": store,
      "Sweep/Function": ["SUREFOOT_DELIVERY_QUEUE_URL", ...store, ...tell].sort(),
      "Deliver/Function": [
        "SUREFOOT_DELIVERY_QUEUE_URL",
        "SUREFOOT_LEDGER_TABLE",
        "SUREFOOT_PAYLOADS_BUCKET",
        "SUREFOOT_RECEIVES_MAX",
        "SUREFOOT_RUNS_TABLE",
      ],
    });
  });

  it("get secrets by name: the template holds a reference that CloudFormation resolves", () => {
    const secrets = { STRIPE_API_KEY: "surefoot/stripe" };
    const withSecrets = resourcesOf(agentStack({ agents: [{ ...refund, secrets }] }));
    const step = ofType(withSecrets, "AWS::Lambda::Function").find(({ path }) => path === "refund-agent/Step/Function");
    expect(step?.Properties.Environment.Variables.STRIPE_API_KEY).toBe(
      "{{resolve:secretsmanager:surefoot/stripe:SecretString:::}}",
    );
  });

  it("are never repeated by Lambda itself", () => {
    const attempts = ofType(resources, "AWS::Lambda::EventInvokeConfig").map(
      ({ Properties }) => Properties.MaximumRetryAttempts,
    );
    expect(new Set(attempts)).toEqual(new Set([0]));
    expect(attempts.length).toBeGreaterThanOrEqual(10);
  });

  it("log into groups that forget after three months", () => {
    const groups = ofType(resources, "AWS::Logs::LogGroup");
    expect(groups).toHaveLength(13);
    expect(new Set(groups.map(({ Properties }) => Properties.RetentionInDays))).toEqual(new Set([90]));
  });
});

describe("the outputs", () => {
  it("name the API, the store, and how to delete what cdk destroy keeps", () => {
    const { Outputs } = Template.fromStack(stack).toJSON();
    expect(Object.keys(Outputs as object).sort()).toEqual([
      "ApiUrl",
      "KeptAfterDestroy",
      "LedgerTableName",
      "PayloadsBucketName",
      "RunsTableName",
    ]);
    expect(asText(Outputs.KeptAfterDestroy.Value, resources).split(" && ")).toEqual([
      "aws dynamodb delete-table --table-name Store/Runs/Table",
      "aws dynamodb delete-table --table-name Store/Ledger/Table",
      "aws s3 rb s3://Store/Payloads/Bucket --force",
      "aws kms schedule-key-deletion --key-id Store/Key",
    ]);
  });
});

describe("a stack", () => {
  it("refuses two agents of one name", () => {
    expect(() => agentStack({ agents: [refund, refund] })).toThrow(
      /expected different names, found "refund-agent" twice/u,
    );
  });

  it("refuses to be without an agent", () => {
    expect(() => agentStack({ agents: [] })).toThrow(/expected at least one, found none/u);
  });

  it(
    "says which module it did not find",
    () => {
      const agents = [{ ...refund, modulePath: "missing/agent.ts" }];
      expect(() => agentStack({ agents, bundle: true })).toThrow(/agent module missing\/agent.ts was not found/u);
    },
    synthesisMsMax,
  );
});
