/**
 * fauxqs names its queues under `sqs.<region>.localhost`, which many resolvers do not know, and finds a queue by that text only. An SDK
 * client whose endpoint comes from the environment calls the queue URL's own host, so that host has to be 127.0.0.1.
 */
const local = /^http:\/\/127\.0\.0\.1(?=:\d+\/)/;
const fauxqs = /^http:\/\/sqs\.us-east-1\.localhost(?=:\d+\/)/;

/** Changes a request's body in place, as a hook of the server has to. */
export function toFauxqsUrls(body: unknown): void {
  if (isRecord(body) && typeof body["QueueUrl"] === "string") {
    body["QueueUrl"] = body["QueueUrl"].replace(local, "http://sqs.us-east-1.localhost");
  }
}

export function toLocalUrls(payload: unknown): unknown {
  if (!isRecord(payload)) return payload;
  const { QueueUrl, QueueUrls } = payload;
  const changed: Record<string, unknown> = {};
  if (QueueUrl !== undefined) changed["QueueUrl"] = toLocalUrl(QueueUrl);
  if (Array.isArray(QueueUrls)) changed["QueueUrls"] = QueueUrls.map(toLocalUrl);
  return { ...payload, ...changed };
}

const toLocalUrl = (url: unknown): unknown => (typeof url === "string" ? url.replace(fauxqs, "http://127.0.0.1") : url);

function isRecord(value: unknown): value is Record<string, unknown> {
  const isPlain = typeof value === "object" && value !== null && !Array.isArray(value);
  return isPlain && !Buffer.isBuffer(value);
}
