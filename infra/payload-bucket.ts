import { Aws, Duration, RemovalPolicy } from "aws-cdk-lib";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { envNames } from "../lambdas/env.ts";
import { payloadKeyPrefix } from "../shared/payloads/s3-payload-store.ts";
import type { PlatformFunction } from "./platform-function.ts";

export interface PayloadBucketProps {
  readonly key: IKey;
}

export type PayloadAction = "get" | "put";

/** Values too large for an item. Objects are named by their content and never change, so versions would keep nothing. Outlives its stack. */
export class PayloadBucket extends Construct {
  readonly bucket: Bucket;
  readonly #key: IKey;

  constructor(scope: Construct, id: string, { key }: PayloadBucketProps) {
    super(scope, id);
    this.#key = key;
    this.bucket = new Bucket(this, "Bucket", {
      encryption: BucketEncryption.KMS,
      encryptionKey: key,
      // One data key serves many objects: fewer requests to KMS, which charges each.
      bucketKeyEnabled: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      versioned: false,
      lifecycleRules: [{ abortIncompleteMultipartUploadAfter: Duration.days(1) }],
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }

  /** Permission and name in one step. Only objects under the payload prefix, and no listing. */
  bindTo(fn: PlatformFunction, actions: readonly PayloadAction[] = []): void {
    fn.setEnvironment(envNames.payloadsBucket, this.bucket.bucketName);
    if (actions.length === 0) return;
    fn.allow({
      actions: actions.map((action) => (action === "get" ? "s3:GetObject" : "s3:PutObject")),
      resources: [this.bucket.arnForObjects(`${payloadKeyPrefix}*`)],
    });
    fn.allow({
      actions: actions.map((action) => (action === "get" ? "kms:Decrypt" : "kms:GenerateDataKey")),
      resources: [this.#key.keyArn],
      conditions: { StringEquals: { "kms:ViaService": `s3.${Aws.REGION}.${Aws.URL_SUFFIX}` } },
    });
  }
}
