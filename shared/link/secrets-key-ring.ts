import { GetSecretValueCommand, type SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { Fault } from "../faults/fault.ts";
import { type KeyRingSource, parseKeyRing } from "./key-ring.ts";

/** The key ring in Secrets Manager: encrypted, versioned, and changed without a deployment. */
export const secretsKeyRing = (client: SecretsManagerClient, secretId: string): KeyRingSource => ({
  async read() {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secretId })).catch((cause) => {
      throw new Fault("key_ring_unreadable", "retryable", "the key ring of review links cannot be read", { cause });
    });
    return parseKeyRing(SecretString ?? "");
  },
});
