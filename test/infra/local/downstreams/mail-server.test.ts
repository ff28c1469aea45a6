import { createTransport } from "nodemailer";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { controlClient, type ControlClient } from "../../../../infra/local/downstreams/control-client.ts";
import type { RunningDownstream } from "../../../../infra/local/downstreams/downstream-program.ts";
import { MailEffects, startMailServer } from "../../../../infra/local/downstreams/mail-server.ts";

let server: RunningDownstream;
let control: ControlClient;

beforeEach(async () => {
  server = await startMailServer();
  control = controlClient(server.url);
});
afterEach(() => server.close());

const effects = async () => MailEffects.parse(await control.get("effects"));
const send = (text = "It is on its way.", settings: object = {}) =>
  createTransport({ ...server.smtp, ...settings }).sendMail({
    from: "shop@example.com",
    to: ["a@example.com", "b@example.com"],
    subject: "Your refund, Jürgen: 42 €",
    messageId: "<op-1@surefoot>",
    headers: { "X-Surefoot-Operation": "op-1" },
    text,
    html: `<p>${text}</p>`,
  });

test("an accepted message is kept with envelope, subject, ids and decoded text", async () => {
  const text = `Grüße, ${"sehr ".repeat(30)}herzlich.\nZeile zwei = Ende`;
  await send(text);

  const { messages, ...counts } = await effects();
  expect(counts).toEqual({ emails: 1, by_operation: { "op-1": 1 }, connections: 1 });
  expect(messages).toEqual([
    {
      from: "shop@example.com",
      to: ["a@example.com", "b@example.com"],
      subject: "Your refund, Jürgen: 42 €",
      message_id: "<op-1@surefoot>",
      operation_id: "op-1",
      text,
      accepted_at: expect.any(String) as string,
    },
  ]);
});

test("SMTP knows no key: the same message twice is two mails", async () => {
  await send();
  await send();

  expect(await effects()).toMatchObject({ emails: 2, by_operation: { "op-1": 2 } });
});

test("a login is accepted but not asked for", async () => {
  await send("hello", { auth: { user: "anybody", pass: "anything" } });

  expect((await effects()).emails).toBe(1);
});

describe("faults", () => {
  test("hold_after_accept: the message is kept, the sender hears nothing until the faults are cleared", async () => {
    await control.post("faults", { fault: "hold_after_accept" });
    const held = send();
    await control.get("wait?for=message&count=1");

    expect(await control.get("faults")).toEqual({ waiting: [], held: 1 });
    await control.delete("faults");
    expect((await held).response).toMatch(/^250/);
    expect((await effects()).emails).toBe(1);
  });

  test("drop_after_accept: the message is kept and the sender sees a broken connection", async () => {
    await control.post("faults", { fault: "drop_after_accept" });

    await expect(send()).rejects.toThrow();
    expect((await effects()).emails).toBe(1);
  });

  test.each([550, 451])("reject with %i: nothing is kept and the sender sees the code", async (status) => {
    await control.post("faults", { fault: "reject", status });

    await expect(send()).rejects.toMatchObject({ responseCode: status });
    expect((await effects()).emails).toBe(0);
    await send();
    expect((await effects()).emails).toBe(1);
  });

  test("a fault that names an address leaves messages to others alone", async () => {
    await control.post("faults", { fault: "reject", to: "c@example.com" });
    await control.post("faults", { fault: "reject", to: "b@example.com" });

    await expect(send()).rejects.toMatchObject({ responseCode: 550 });
    await send();
    expect((await effects()).emails).toBe(1);
  });

  test("refuse: the connection ends before the greeting", async () => {
    await control.post("faults", { fault: "refuse", times: 2 });

    await expect(send()).rejects.toThrow();
    await expect(send()).rejects.toThrow();
    expect(await effects()).toMatchObject({ emails: 0, connections: 2 });
    await send();
  });
});
