import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { S3Client } from "@aws-sdk/client-s3";
import { describe, expect, it } from "vitest";
import { s3PayloadStore } from "../../../shared/payloads/s3-payload-store.ts";
import { payloadStoreContract } from "./payload-store-contract.ts";

/** The two calls of S3's REST API that the store makes, over the real client. */
async function startS3(): Promise<{ s3: S3Client; objects: Map<string, Buffer>; close: () => Promise<void> }> {
  const objects = new Map<string, Buffer>();
  const server = createServer((request, response) => void answer(objects, request, response));
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const s3 = new S3Client({
    endpoint: `http://127.0.0.1:${port}`,
    region: "eu-central-1",
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  const close = async () => {
    s3.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { s3, objects, close };
}

async function answer(objects: Map<string, Buffer>, request: IncomingMessage, response: ServerResponse) {
  const path = new URL(request.url ?? "/", "http://s3").pathname;
  const refuse = (status: number, code: string) =>
    response.writeHead(status, { "content-type": "application/xml" }).end(`<Error><Code>${code}</Code></Error>`);
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  if (path.startsWith("/locked/")) return refuse(403, "AccessDenied");
  if (request.method === "PUT") {
    objects.set(path, Buffer.concat(chunks));
    return response.writeHead(200).end();
  }
  const found = objects.get(path);
  return found ? response.writeHead(200).end(found) : refuse(404, "NoSuchKey");
}

describe("a payload store in S3", () => {
  payloadStoreContract(async () => {
    const { s3, objects, close } = await startS3();
    return {
      store: s3PayloadStore(s3, "payloads-bucket"),
      tamper: async (key, text) => void objects.set(`/payloads-bucket/payloads/${key}`, Buffer.from(text)),
      keys: async () => [...objects.keys()],
      close,
    };
  });

  it("keeps its objects under the prefix that the function's policy names", async () => {
    const { s3, objects, close } = await startS3();
    await s3PayloadStore(s3, "b").put({ key: "run-1/abc", sha256: "abc", bytes: 2 }, "{}");
    expect([...objects.keys()]).toEqual(["/b/payloads/run-1/abc"]);
    await close();
  });

  it("does not call a payload missing that it may not read", async () => {
    const { s3, close } = await startS3();
    const read = s3PayloadStore(s3, "locked").get({ key: "run-1/abc", sha256: "abc", bytes: 2 });
    await expect(read).rejects.toMatchObject({ name: "AccessDenied" });
    await close();
  });
});
