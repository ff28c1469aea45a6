import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import { credentials, type Emulator, region } from "./emulator.ts";

export interface AwsRequest {
  /** As in the credential scope: `execute-api`, `events`. */
  readonly service: string;
  /** The host that is asked for; the connection goes to the emulator. */
  readonly host: string;
  readonly method?: string;
  /** Encoded, with its query. @default / */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** @default true */
  readonly signed?: boolean;
}

export interface AwsAnswer {
  readonly status: number;
  readonly body: string;
}

/** One request with Signature Version 4 over TLS, as any client without the SDK sends it. */
export async function send(emulator: Emulator, asked: AwsRequest): Promise<AwsAnswer> {
  const { method = "GET", path = "/", body = "", signed = true } = asked;
  const headers = { ...asked.headers, host: asked.host };
  const sent = request({
    host: "127.0.0.1",
    port: emulator.port,
    servername: "localhost", // the certificate is the emulator's, whatever host is asked for
    ca: emulator.certificate.pem,
    method,
    path,
    headers: signed ? sign({ ...asked, method, path, body, headers }, new Date()) : headers,
  });
  sent.end(body);
  const [response] = await once(sent, "response");
  return { status: response.statusCode, body: await text(response) };
}

/** An operation of a service that speaks JSON, `AWSEvents.ListRules` of `events`. @throws Error for any other answer than 200. */
export async function callService(
  emulator: Emulator,
  service: string,
  target: string,
  input: unknown,
): Promise<unknown> {
  const { status, body } = await send(emulator, {
    service,
    host: `${service}.${region}.amazonaws.com`,
    method: "POST",
    headers: { "content-type": "application/x-amz-json-1.1", "x-amz-target": target },
    body: JSON.stringify(input),
  });
  if (status === 200) return JSON.parse(body);
  throw new Error(`${target} was answered with ${status}: ${body}`);
}

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
function sign(
  { service, method, path, headers, body }: Required<Omit<AwsRequest, "host" | "signed">>,
  now: Date,
): Record<string, string> {
  const at = now.toISOString().replaceAll(/[:-]|\.\d{3}/gu, "");
  const day = at.slice(0, 8);
  const scope = `${day}/${region}/${service}/aws4_request`;
  const all: Record<string, string> = { ...headers, "x-amz-date": at };
  const names = Object.keys(all).sort();
  const { pathname, searchParams } = new URL(path, "https://any");
  const canonical = [
    method,
    // Encoded once more than it is sent: every service but S3.
    pathname.split("/").map(encode).join("/"),
    [...searchParams]
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .sort()
      .join("&"),
    ...names.map((name) => `${name}:${all[name]?.trim()}`),
    "",
    names.join(";"),
    sha256(body),
  ].join("\n");
  const toSign = ["AWS4-HMAC-SHA256", at, scope, sha256(canonical)].join("\n");
  const key = [day, region, service, "aws4_request"].reduce<string | Buffer>(
    hmac,
    `AWS4${credentials.secretAccessKey}`,
  );
  return {
    ...all,
    authorization:
      `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, ` +
      `SignedHeaders=${names.join(";")}, Signature=${hmac(key, toSign).toString("hex")}`,
  };
}

const sha256 = (value: string): string => createHash("sha256").update(value).digest("hex");
const hmac = (key: string | Buffer, value: string): Buffer => createHmac("sha256", key).update(value).digest();
/** RFC 3986, where `encodeURIComponent` spares a few. */
const encode = (value: string): string =>
  encodeURIComponent(value).replaceAll(/[!'()*]/gu, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
