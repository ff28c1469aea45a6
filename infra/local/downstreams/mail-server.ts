import type { AddressInfo, Socket } from "node:net";
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server";
import { z } from "zod";
import { isProgram } from "../child-process.ts";
import { serveControl } from "./control-routes.ts";
import { runAsProgram, type RunningDownstream } from "./downstream-program.ts";
import { FaultBase, FaultQueue } from "./fault-queue.ts";
import { listenHttp } from "./http-server.ts";
import { openJournal } from "./journal.ts";
import { readMailMessage } from "./mail-message.ts";
import { Milestones } from "./milestones.ts";

/** A held client waits as long as its own timeout says, not as long as this server's. */
const SOCKET_TIMEOUT_MS = 15 * 60 * 1000;
const MESSAGE_BYTES_MAX = 1024 * 1024;

export interface MailServerOptions {
  /** Of the control routes. @default a free port */
  readonly port?: number | undefined;
  /** @default a free port */
  readonly smtpPort?: number | undefined;
  /** JSON lines that carry the messages over a restart. @default nothing is kept */
  readonly dataFile?: string | undefined;
}

export const AcceptedMessage = z.object({
  from: z.string(),
  to: z.array(z.string()),
  subject: z.string(),
  message_id: z.string().nullable(),
  /** The `X-Surefoot-Operation` header. */
  operation_id: z.string().nullable(),
  text: z.string(),
  accepted_at: z.string(),
});
export type AcceptedMessage = z.infer<typeof AcceptedMessage>;

/** What `GET effects` gives. SMTP knows no idempotency: two accepted copies are two mails. */
export const MailEffects = z.object({
  emails: z.number(),
  by_operation: z.record(z.string(), z.number()),
  messages: z.array(AcceptedMessage),
  /** Since this process started. */
  connections: z.number(),
});
export type MailEffects = z.infer<typeof MailEffects>;

/** With `to`, only messages to that address are hit. */
const MessageFault = FaultBase.extend({ to: z.string().optional() });

export const MailFault = z.discriminatedUnion("fault", [
  /** The connection is cut before the greeting. */
  FaultBase.extend({ fault: z.literal("refuse") }),
  /** The message is not taken: 5xx for good, 4xx for now. */
  MessageFault.extend({ fault: z.literal("reject"), status: z.number().int().min(400).max(599).default(550) }),
  /** The message is taken, and the caller hears nothing until the faults are cleared. */
  MessageFault.extend({ fault: z.literal("hold_after_accept") }),
  /** The message is taken, then the connection is cut before the 250. */
  MessageFault.extend({ fault: z.literal("drop_after_accept") }),
]);
export type MailFault = z.infer<typeof MailFault>;

/** An SMTP server that keeps what it accepted, with control routes on an HTTP port of their own. No TLS; any login is welcome. */
export async function startMailServer(options: MailServerOptions = {}): Promise<RunningDownstream> {
  const faults = new FaultQueue<MailFault>();
  const milestones = new Milestones(["message", "connection"]);
  const messages: AcceptedMessage[] = [];
  const keep = (message: AcceptedMessage) => {
    messages.push(message);
    milestones.reach("message");
  };
  const journal = openJournal(options.dataFile, AcceptedMessage, keep);
  const sockets = new Map<number, Socket>();

  const onData = async (stream: SMTPServerDataStream, session: SMTPServerSession): Promise<void> => {
    const raw = await readAll(stream);
    if (stream.sizeExceeded)
      throw smtpError(552, `expected at most ${MESSAGE_BYTES_MAX} bytes: send a smaller message`);
    const recipients = session.envelope.rcptTo.map(({ address }) => address);
    const fault = faults.take(
      (candidate) => candidate.fault !== "refuse" && (candidate.to === undefined || recipients.includes(candidate.to)),
    );
    if (fault?.fault === "reject") throw smtpError(fault.status, "an injected fault refused this message");
    const message = acceptedMessage(raw, session);
    journal.append(message);
    keep(message);
    if (fault?.fault === "hold_after_accept") await faults.hold();
    if (fault?.fault === "drop_after_accept") sockets.get(session.remotePort)?.destroy();
  };

  const smtp = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: ["STARTTLS"],
    disableReverseLookup: true,
    socketTimeout: SOCKET_TIMEOUT_MS,
    closeTimeout: 1,
    size: MESSAGE_BYTES_MAX,
    onAuth: (auth, _session, callback) => callback(null, { user: auth.username ?? "anybody" }),
    onData: (stream, session, callback) => {
      onData(stream, session).then(() => callback(null, "accepted"), callback);
    },
  });
  smtp.on("error", () => undefined); // a cut connection is what the faults are for
  smtp.server.prependListener("connection", (socket: Socket) => {
    milestones.reach("connection");
    const port = socket.remotePort ?? -1;
    sockets.set(port, socket);
    socket.once("close", () => sockets.delete(port));
    if (faults.take((candidate) => candidate.fault === "refuse") !== undefined) socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    smtp.server.once("error", reject);
    smtp.listen(options.smtpPort ?? 0, "127.0.0.1", resolve);
  });

  const effects = (): MailEffects => ({
    emails: messages.length,
    by_operation: countByOperation(messages),
    messages,
    connections: milestones.count("connection"),
  });
  const control = await listenHttp(options.port ?? 0, async (exchange) => {
    const routes = { faults, faultSchema: MailFault, milestones, reads: { effects } };
    if (await serveControl(exchange, routes)) return;
    exchange.answer(404, { error: { type: "control_error", message: "mail goes by SMTP; here is only /_surefoot/…" } });
  });

  return {
    url: control.url,
    smtp: { host: "127.0.0.1", port: (smtp.server.address() as AddressInfo).port }, // TCP, so never a pipe name
    close: async () => {
      faults.abandon();
      for (const socket of sockets.values()) socket.destroy();
      await Promise.all([control.close(), new Promise<void>((resolve) => smtp.close(resolve))]);
      journal.close();
    },
  };
}

function acceptedMessage(raw: Buffer, { envelope }: SMTPServerSession): AcceptedMessage {
  const content = readMailMessage(raw);
  return {
    from: envelope.mailFrom === false ? "" : envelope.mailFrom.address,
    to: envelope.rcptTo.map(({ address }) => address),
    subject: content.subject,
    message_id: content.messageId,
    operation_id: content.operationId,
    text: content.text,
    accepted_at: new Date().toISOString(),
  };
}

function countByOperation(messages: readonly AcceptedMessage[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { operation_id: id } of messages) if (id !== null) counts[id] = (counts[id] ?? 0) + 1;
  return counts;
}

async function readAll(stream: SMTPServerDataStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** smtp-server answers with the `responseCode` of the error it is given. */
function smtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

if (isProgram(import.meta.url)) {
  await runAsProgram("mail", ({ port, smtpPort, data }) => startMailServer({ port, smtpPort, dataFile: data }));
}
