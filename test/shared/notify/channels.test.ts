import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SNSClient } from "@aws-sdk/client-sns";
import { describe, expect, it, onTestFinished } from "vitest";
import { secretsKeyRing } from "../../../shared/link/secrets-key-ring.ts";
import { eventBridgeChannel } from "../../../shared/notify/eventbridge-channel.ts";
import { fileChannel } from "../../../shared/notify/file-channel.ts";
import type { Notice } from "../../../shared/notify/notice.ts";
import { secretsWebhookUrl } from "../../../shared/notify/secrets-webhook-url.ts";
import { snsChannel } from "../../../shared/notify/sns-channel.ts";
import { webhookChannel } from "../../../shared/notify/webhook-channel.ts";
import { httpStub, type StubReply } from "../../builders/http-stub.ts";

const notice: Notice = {
  notice_id: "n-1",
  kind: "requested",
  approval_id: "run-1:0003.review",
  run_id: "run-1",
  workflow_id: "T-1",
  agent: "refund-agent",
  action_name: "create_refund",
  risk: "high",
  title: "Refund for <!channel> *ORD-1*",
  requested_at: "2026-09-02T12:00:00.000Z",
  expires_at: "2026-09-09T12:00:00.000Z",
  approver: "ann@example.com",
  link: "https://agents.example.com/review/k1.secret.mac",
};
const { approver: _, ...forEverybody } = { ...notice, link: "https://agents.example.com/approvals/run-1" };
const signal = new AbortController().signal;

/** A client as it is, pointed at a stub. */
const aws = (endpoint: string) => ({
  endpoint,
  region: "eu-west-1",
  credentials: { accessKeyId: "test", secretAccessKey: "test" },
  maxAttempts: 1,
});

describe("a topic", () => {
  const accepted = `<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>m</MessageId></PublishResult></PublishResponse>`;
  const topic = "arn:aws:sns:eu-west-1:111122223333:approvals";

  it("gets one message a person, who is its attribute, and identifiers alone in its subject", async () => {
    const { url, requests } = await httpStub(() => ({ body: accepted }));
    await snsChannel(new SNSClient(aws(url)), topic).send(notice, signal);

    const sent = new URLSearchParams(requests[0]?.body);
    expect(sent.get("TopicArn")).toBe(topic);
    expect(sent.get("Subject")).toBe("Approval wanted: refund-agent, T-1 (risk high)");
    expect(sent.get("Message")).toContain(notice.link);
    expect(sent.get("Message")).toContain("as ann@example.com; whoever has this link decides in that name");
    const entries = [1, 2, 3, 4, 5].map((n) => [
      sent.get(`MessageAttributes.entry.${n}.Name`),
      sent.get(`MessageAttributes.entry.${n}.Value.StringValue`),
    ]);
    expect(Object.fromEntries(entries)).toEqual({
      notice_id: "n-1",
      kind: "requested",
      agent: "refund-agent",
      risk: "high",
      approver: "ann@example.com",
    });
  });

  it("gets one message for everybody where nobody is named, which no filter on a person lets through", async () => {
    const { url, requests } = await httpStub(() => ({ body: accepted }));
    const channel = snsChannel(new SNSClient(aws(url)), topic);
    await channel.send(forEverybody, signal);

    expect(channel.audience([])).toEqual([undefined]);
    expect(channel.audience(["ann", "bob"])).toEqual(["ann", "bob"]);
    expect(requests[0]?.body).not.toContain("approver");
  });

  it("that refuses is an error", async () => {
    const { url } = await httpStub(() => ({ status: 403, body: "<ErrorResponse/>" }));
    await expect(snsChannel(new SNSClient(aws(url)), topic).send(notice, signal)).rejects.toThrow();
  });
});

describe("an event bus", () => {
  const answering = (body: object): StubReply => ({
    headers: { "content-type": "application/x-amz-json-1.1" },
    body: JSON.stringify(body),
  });

  it("gets identifiers and the page that asks who comes: nothing that decides, and nothing that a customer wrote", async () => {
    const { url, requests } = await httpStub(() => answering({ FailedEntryCount: 0, Entries: [{ EventId: "e" }] }));
    const channel = eventBridgeChannel(new EventBridgeClient(aws(url)), "default");
    await channel.send(forEverybody, signal);

    expect(channel.audience(["ann", "bob"])).toEqual([undefined]);
    const [entry] = JSON.parse(requests[0]?.body ?? "{}").Entries;
    expect(entry).toMatchObject({ EventBusName: "default", Source: "surefoot", DetailType: "Approval Requested" });
    const { title: _title, ...expected } = forEverybody;
    expect(JSON.parse(entry.Detail as string)).toEqual(expected);
  });

  it("that took the request and not the event is an error", async () => {
    const refused = { FailedEntryCount: 1, Entries: [{ ErrorCode: "ThrottlingException", ErrorMessage: "slow down" }] };
    const { url } = await httpStub(() => answering(refused));
    await expect(
      eventBridgeChannel(new EventBridgeClient(aws(url)), "default").send(forEverybody, signal),
    ).rejects.toMatchObject({
      code: "event_refused",
      message: expect.stringContaining("ThrottlingException") as string,
    });
  });
});

describe("a webhook", () => {
  it("gets a message in Slack's shape, in which nobody's title rings a channel or hides a link", async () => {
    const { url, requests } = await httpStub(() => ({ body: "ok" }));
    await webhookChannel({ url: async () => `${url}/services/T/B/x` }).send(forEverybody, signal);

    expect(requests[0]).toMatchObject({ method: "POST", path: "/services/T/B/x" });
    expect(requests[0]?.headers["x-surefoot-notice-id"]).toBe("n-1");
    expect(JSON.parse(requests[0]?.body ?? "{}")).toEqual({
      text: [
        "*Approval wanted: refund-agent, T-1 (risk high)*",
        "Refund for &lt;!channel&gt; *ORD-1*",
        "Valid until 2026-09-09T12:00:00.000Z",
        "<https://agents.example.com/approvals/run-1|Look at it and decide>",
      ].join("\n"),
      unfurl_links: false,
      unfurl_media: false,
    });
  });

  it("gets no signed link unless its readers decide in one name", () => {
    const url = async () => "https://chat.example";
    expect(webhookChannel({ url }).audience(["ann", "bob"])).toEqual([undefined]);
    expect(webhookChannel({ url, approver: "bob" }).audience(["ann", "bob"])).toEqual(["bob"]);
    expect(webhookChannel({ url, approver: "cleo" }).audience(["ann", "bob"])).toEqual([undefined]);
  });

  it.each<[string, StubReply, string]>([
    ["refuses", { status: 404, body: "no_service" }, "webhook_refused"],
    ["leads elsewhere", { status: 302, headers: { location: "http://127.0.0.1:9/x" } }, "webhook_unreachable"],
  ])("that %s is an error without its address", async (_what, reply, code) => {
    const { url } = await httpStub(() => reply);
    const sent = webhookChannel({ url: async () => `${url}/services/secret` }).send(notice, signal);

    await expect(sent).rejects.toMatchObject({ code, message: expect.not.stringContaining("secret") as string });
  });

  it("that does not answer ends with its signal", async () => {
    const { url } = await httpStub(() => "hang");
    const ending = new AbortController();
    const sent = webhookChannel({ url: async () => url }).send(notice, ending.signal);
    ending.abort();

    await expect(sent).rejects.toMatchObject({ code: "webhook_unreachable" });
  });
});

describe("a file", () => {
  it("gets a line a notice, for its owner's eyes only", async () => {
    const folder = mkdtempSync(join(tmpdir(), "surefoot-notices-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "notices.jsonl");
    await fileChannel(file).send(notice, signal);
    await fileChannel(file).send(forEverybody, signal);

    expect(
      readFileSync(file, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([notice, forEverybody]);
    expect(statSync(file).mode & 0o077).toBe(0);
  });
});

describe("a secret", () => {
  const holding = (SecretString: string): StubReply => ({
    headers: { "content-type": "application/x-amz-json-1.1" },
    body: JSON.stringify({ Name: "s", SecretString }),
  });

  it("is asked for by its ARN, and read as a key ring", async () => {
    const key = Buffer.alloc(32, 7).toString("base64");
    const { url, requests } = await httpStub(() => holding(JSON.stringify({ current: "k", keys: { k: key } })));
    const ring = await secretsKeyRing(new SecretsManagerClient(aws(url)), "arn:of:keys").read();

    expect(ring.keys.get("k")).toEqual(Buffer.alloc(32, 7));
    expect(JSON.parse(requests[0]?.body ?? "{}")).toEqual({ SecretId: "arn:of:keys" });
  });

  it("that cannot be read is worth another try", async () => {
    const { url } = await httpStub(() => ({ status: 400, body: '{"__type":"AccessDeniedException"}' }));
    await expect(secretsKeyRing(new SecretsManagerClient(aws(url)), "arn:of:keys").read()).rejects.toMatchObject({
      code: "key_ring_unreadable",
      failureClass: "retryable",
    });
  });

  it.each(["", "http://chat.example/x", "chat.example", '{"url":"https://chat.example"}'])(
    "that holds no https address is no webhook: %j",
    async (text) => {
      const { url } = await httpStub(() => holding(text));
      await expect(secretsWebhookUrl(new SecretsManagerClient(aws(url)), "s")()).rejects.toMatchObject({
        code: "webhook_address",
      });
    },
  );

  it("that holds an https address is one", async () => {
    const { url } = await httpStub(() => holding(" https://hooks.chat.example/x\n"));
    expect(await secretsWebhookUrl(new SecretsManagerClient(aws(url)), "s")()).toBe("https://hooks.chat.example/x");
  });
});
