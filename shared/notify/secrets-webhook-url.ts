import { GetSecretValueCommand, type SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { Fault } from "../faults/fault.ts";

/** A webhook's address out of Secrets Manager, read for each message: few are sent, and a changed one counts at once. */
export const secretsWebhookUrl = (client: SecretsManagerClient, secretId: string) => async (): Promise<string> => {
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secretId }));
  const url = SecretString?.trim() ?? "";
  if (URL.canParse(url) && new URL(url).protocol === "https:") return url;
  throw new Fault(
    "webhook_address",
    "final",
    "the secret of the webhook holds no https address: put the address alone into it",
  );
};
