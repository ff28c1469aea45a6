import { beforeAll, describe, expect, it } from "vitest";
import { agentStack, ofType, type Resource, resourcesOf, synthesisMsMax } from "./synthesized-stack.ts";

let resources: ReadonlyMap<string, Resource>;
beforeAll(() => {
  resources = resourcesOf(agentStack());
}, synthesisMsMax);

const at = (path: string): Resource => {
  const found = [...resources.values()].find((resource) => resource.path === path);
  if (!found)
    throw new Error(`no resource at ${path}: there are ${[...resources.values()].map((it) => it.path).join(", ")}`);
  return found;
};
interface Index {
  readonly IndexName: string;
  readonly KeySchema: readonly { readonly AttributeName: string }[];
  readonly Projection: { readonly ProjectionType: string; readonly NonKeyAttributes?: readonly string[] };
}
const indexesOf = (table: Resource): readonly Index[] => table.Properties.GlobalSecondaryIndexes;
const keysOf = ({ KeySchema }: Index) => KeySchema.map(({ AttributeName }) => AttributeName);
const described = (table: Resource) =>
  indexesOf(table).map(
    (index) => `${index.IndexName}: ${keysOf(index).join(", ")}, ${index.Projection.ProjectionType}`,
  );

describe("the tables", () => {
  it("have the keys and indexes that the run log queries", () => {
    expect(at("Store/Runs/Table").Properties.KeySchema).toEqual([
      { AttributeName: "run_id", KeyType: "HASH" },
      { AttributeName: "item", KeyType: "RANGE" },
    ]);
    expect(described(at("Store/Runs/Table"))).toEqual([
      "by-agent: agent_runs, created_at, INCLUDE",
      "by-workflow: workflow_runs, created_at, INCLUDE",
      "open: open_shard, open_since, INCLUDE",
    ]);
  });

  it("have the keys and indexes that the ledger queries", () => {
    expect(at("Store/Ledger/Table").Properties.KeySchema).toEqual([{ AttributeName: "operation_id", KeyType: "HASH" }]);
    expect(described(at("Store/Ledger/Table"))).toEqual([
      "by-run: run_id, created_at, ALL",
      "open: open_shard, updated_at, ALL",
    ]);
  });

  it("project what DynamoDB takes: at most 20 attributes an index, 100 a table, no keys, and never the task token", () => {
    for (const table of ofType(resources, "AWS::DynamoDB::Table")) {
      let attributesOfTable = 0;
      for (const index of indexesOf(table)) {
        const attributes = index.Projection.NonKeyAttributes ?? [];
        expect(attributes.filter((attribute) => keysOf(index).includes(attribute))).toEqual([]);
        expect(attributes).not.toContain("task_token");
        expect(attributes.length).toBeLessThanOrEqual(20);
        attributesOfTable += attributes.length;
      }
      expect(attributesOfTable).toBeLessThanOrEqual(100);
    }
  });

  it.each(["Store/Runs/Table", "Store/Ledger/Table"])(
    "%s is paid per request, recoverable, encrypted and expires items",
    (path) => {
      expect(at(path).Properties).toMatchObject({
        BillingMode: "PAY_PER_REQUEST",
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        SSESpecification: {
          SSEEnabled: true,
          SSEType: "KMS",
          KMSMasterKeyId: { "Fn::GetAtt": [at("Store/Key").id, "Arn"] },
        },
        TimeToLiveSpecification: { AttributeName: "ttl", Enabled: true },
      });
    },
  );

  it("are protected from deletion in prod, and in no other stage", () => {
    const protection = (stage: string) =>
      ofType(resourcesOf(agentStack({ stage })), "AWS::DynamoDB::Table").map(
        (it) => it.Properties.DeletionProtectionEnabled,
      );
    expect(protection("prod")).toEqual([true, true]);
    expect(protection("dev")).toEqual([false, false]);
  });
});

describe("the bucket", () => {
  it("is private, encrypted with the store's key, and drops unfinished uploads", () => {
    expect(at("Store/Payloads/Bucket").Properties).toMatchObject({
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [
          {
            BucketKeyEnabled: true,
            ServerSideEncryptionByDefault: {
              SSEAlgorithm: "aws:kms",
              KMSMasterKeyID: { "Fn::GetAtt": [at("Store/Key").id, "Arn"] },
            },
          },
        ],
      },
      LifecycleConfiguration: {
        Rules: [{ AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 }, Status: "Enabled" }],
      },
    });
    expect(at("Store/Payloads/Bucket").Properties).not.toHaveProperty("VersioningConfiguration");
  });

  it("refuses requests without TLS", () => {
    const [policy] = ofType(resources, "AWS::S3::BucketPolicy");
    expect(policy?.Properties.PolicyDocument.Statement).toContainEqual(
      expect.objectContaining({
        Effect: "Deny",
        Action: "s3:*",
        Principal: { AWS: "*" },
        Condition: { Bool: { "aws:SecureTransport": "false" } },
      }),
    );
  });
});

describe("what outlives the stack", () => {
  it("is the data, its key, and the versions that executions may still run on", () => {
    const kept = [...resources.values()]
      .filter(({ DeletionPolicy }) => DeletionPolicy === "Retain")
      .map(({ Type, UpdateReplacePolicy }) => `${Type} ${UpdateReplacePolicy ?? "replaced"}`);
    expect(kept.sort()).toEqual([
      "AWS::DynamoDB::Table Retain",
      "AWS::DynamoDB::Table Retain",
      "AWS::KMS::Key Retain",
      "AWS::Lambda::Version Retain",
      "AWS::Lambda::Version Retain",
      "AWS::Lambda::Version Retain",
      "AWS::S3::Bucket Retain",
      "AWS::StepFunctions::StateMachineVersion Retain",
    ]);
  });

  it("has a key that is rotated", () => {
    expect(at("Store/Key").Properties.EnableKeyRotation).toBe(true);
  });
});
