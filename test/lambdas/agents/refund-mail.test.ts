import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { controlClient, type ControlClient } from "../../../infra/local/downstreams/control-client.ts";
import type { RunningDownstream } from "../../../infra/local/downstreams/downstream-program.ts";
import { MailEffects, startMailServer } from "../../../infra/local/downstreams/mail-server.ts";
import { sendMail } from "../../../lambdas/agents/refund-agent/tools.ts";
import { classifyError } from "../../../shared/faults/classify.ts";

let server: RunningDownstream;
let control: ControlClient;

beforeEach(async () => {
  server = await startMailServer();
  control = controlClient(server.url);
  vi.stubEnv("STRIPE_API_KEY", "sk_test_local");
  vi.stubEnv("SMTP_URL", `smtp://127.0.0.1:${server.smtp?.port}`);
  vi.stubEnv("MAIL_FROM", "shop@example.com");
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server.close();
});

const operation = "c5a7394039e6198cb3d349d6f88e9b38";
const send = (signal = AbortSignal.timeout(20_000)) =>
  sendMail.execute(
    { to: "customer@example.com", subject: "Your refund", text: "We refunded 60.00 USD." },
    { idempotencyKey: operation, signal },
  );
const effects = async () => MailEffects.parse(await control.get("effects"));
/** The class by which the runtime goes on, and the error's message. */
const verdictOf = async (promise: Promise<unknown>) => {
  const error: unknown = await promise.then(
    () => Promise.reject(new Error("expected a failure, found a sent mail")),
    (fault: unknown) => fault,
  );
  return { failureClass: sendMail.classify?.(error) ?? classifyError(error).failureClass, error: error as Error };
};

test("a mail carries its operation id, and is referred to by it", async () => {
  const sent = await send();

  expect(sent).toEqual({ messageId: `<${operation}@surefoot>` });
  expect(sendMail.externalRef?.(sent)).toBe(`<${operation}@surefoot>`);
  expect(await effects()).toMatchObject({
    emails: 1,
    by_operation: { [operation]: 1 },
    messages: [
      {
        from: "shop@example.com",
        to: ["customer@example.com"],
        subject: "Your refund",
        message_id: `<${operation}@surefoot>`,
      },
    ],
  });
});

describe("one connection for one call, and a verdict that never lets a mail go twice", () => {
  test.each([
    [{ fault: "refuse" }, "retryable", 0],
    [{ fault: "reject", status: 451 }, "retryable", 0],
    [{ fault: "reject", status: 421 }, "retryable", 0],
    [{ fault: "reject", status: 550 }, "final", 0],
    [{ fault: "drop_after_accept" }, "unknown", 1],
  ])("%o is %s", async (fault, failureClass, emails) => {
    await control.post("faults", { ...fault, times: 9 });
    const verdict = await verdictOf(send());

    expect(verdict.failureClass).toBe(failureClass);
    expect(await effects()).toMatchObject({ emails, connections: 1 });
  });

  test("nobody at the address is known not to have been sent", async () => {
    await server.close();
    const { failureClass, error } = await verdictOf(send());

    expect(failureClass).toBe("retryable");
    expect(error.message).toMatch(/^the mail server was lost before the message was sent: .*ECONNREFUSED/);
  });

  test("an abort ends the call while the server is silent after it took the mail: unknown", async () => {
    await control.post("faults", { fault: "hold_after_accept", times: 9 });
    const abort = new AbortController();
    const silent = verdictOf(send(abort.signal));
    await control.get("wait?for=message&count=1");
    abort.abort();

    expect((await silent).failureClass).toBe("unknown");
    expect(await effects()).toMatchObject({ emails: 1, connections: 1 });
  });

  test("a signal that was aborted before connects to nobody", async () => {
    expect((await verdictOf(send(AbortSignal.abort()))).failureClass).toBe("retryable");
    expect((await effects()).connections).toBe(0);
  });
});

describe("a server that hangs up", () => {
  let smtp: Server;
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await new Promise((closed) => smtp.close(closed));
  });

  /** Says yes to every command until `at` arrives, then cuts the connection. */
  const hangUpAt = async (at: RegExp) => {
    smtp = createServer((socket) => {
      sockets.push(socket);
      socket.write("220 here\r\n");
      socket.on("error", () => undefined);
      socket.setEncoding("utf8").on("data", (text: string) => {
        for (const line of text.split("\r\n").filter((part) => part !== "")) {
          if (at.test(line)) {
            socket.destroy();
            return;
          }
          if (/^(EHLO|MAIL|RCPT)/.test(line)) socket.write("250 ok\r\n");
          if (line === "DATA") socket.write("354 go on\r\n");
        }
      });
    });
    await new Promise<void>((listening) => smtp.listen(0, "127.0.0.1", listening));
    vi.stubEnv("SMTP_URL", `smtp://127.0.0.1:${(smtp.address() as AddressInfo).port}`);
  };

  test.each([
    ["the greeting of the client", /^EHLO/, "retryable"],
    ["the sender", /^MAIL/, "retryable"],
    ["the recipient", /^RCPT/, "retryable"],
    ["the announcement of the message", /^DATA$/, "retryable"],
    ["the first line of the message", /^X-Surefoot|^From:|^Message-ID/i, "unknown"],
    ["the last line of the message", /^\.$/, "unknown"],
  ])("at %s: %s is %s", async (_what, at, failureClass) => {
    await hangUpAt(at);

    expect((await verdictOf(send())).failureClass).toBe(failureClass);
  });
});
