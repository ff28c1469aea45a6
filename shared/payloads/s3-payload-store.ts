import { GetObjectCommand, NoSuchKey, PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { Fault } from "../faults/fault.ts";
import type { PayloadStore } from "./payload-store.ts";

/** Prefix of every object, so that a bucket may be shared and a policy can name it. */
export const payloadKeyPrefix = "payloads/";

/** Large values in S3. Objects are addressed by content, so a repeated put writes the same bytes. */
export function s3PayloadStore(s3: S3Client, bucket: string): PayloadStore {
  return {
    async put(ref, text) {
      await s3.send(
        new PutObjectCommand({
          Bucket: bucket,
          Key: payloadKeyPrefix + ref.key,
          Body: Buffer.from(text, "utf8"),
          ContentType: "application/json",
        }),
      );
    },
    async get(ref) {
      try {
        const object = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: payloadKeyPrefix + ref.key }));
        return (await object.Body?.transformToString("utf8")) ?? "";
      } catch (cause) {
        if (!(cause instanceof NoSuchKey)) throw cause;
        throw new Fault(
          "payload_missing",
          "final",
          `payload ${ref.key} is not in bucket ${bucket}: it was deleted or never written`,
          { cause },
        );
      }
    },
  };
}
