import { SFNClient } from "@aws-sdk/client-sfn";
import { AwsClient } from "aws4fetch";
import { CliError } from "./cli-error.ts";

/** `abc123.execute-api.eu-west-1.amazonaws.com`: an API of the stack, which IAM authorizes. */
const deployedApi = /^[a-z0-9]+\.execute-api\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?$/u;

/** A token of the identity provider, for an API that asks for one. From the environment alone: other users see arguments. */
const tokenVariable = "SUREFOOT_TOKEN";

/**
 * Gives a request what the API asks for: the token of `SUREFOOT_TOKEN` where it is set, never without TLS; else, to a deployed API, a
 * signature with the caller's AWS credentials, found where the AWS CLI finds them. Requests to anywhere else go as they are.
 * @throws CliError 2 when there are no credentials.
 */
export async function signRequest(request: Request): Promise<Request> {
  const token = process.env[tokenVariable];
  if (token && new URL(request.url).protocol === "https:") {
    request.headers.set("authorization", `Bearer ${token}`);
    return request;
  }
  const region = deployedApi.exec(new URL(request.url).hostname)?.[1];
  if (region === undefined) return request;
  const client = new AwsClient({ ...(await credentials(region)), service: "execute-api", region, retries: 0 });
  return client.sign(request);
}

async function credentials(region: string) {
  try {
    const { accessKeyId, secretAccessKey, sessionToken } = await new SFNClient({ region }).config.credentials();
    return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CliError(
      2,
      "no_credentials",
      `a deployed API wants your AWS credentials, and there are none (${why}): log in as for the AWS CLI, or set ${tokenVariable} for an API that takes tokens`,
    );
  }
}
