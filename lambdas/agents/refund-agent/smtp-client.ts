import { createTransport, type SendMailOptions } from "nodemailer";
import { Fault, type FailureClass } from "../../../shared/index.ts";

/**
 * Hands one mail to the server in one try. The signal ends the connection.
 * @throws Fault `mail_not_sent`, retryable, where the connection came to nothing before the message began to leave.
 */
export async function sendOnce(smtpUrl: string, mail: SendMailOptions, signal: AbortSignal): Promise<void> {
  const transport = createTransport(smtpUrl);
  // The client says `CONN` of every lost connection, also after the server took the message: only this tells the two apart.
  let leaving = false;
  transport.use("stream", ({ message }, done) => {
    const open = message.createReadStream.bind(message);
    message.createReadStream = (options) =>
      open(options).once("resume", () => {
        leaving = true;
      });
    done();
  });
  try {
    const abortable: SendMailOptions & { readonly signal: AbortSignal } = { ...mail, signal }; // newer than its types
    await transport.sendMail(abortable);
  } catch (error) {
    if (leaving || replyCodeOf(error) !== undefined) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new Fault("mail_not_sent", "retryable", `the mail server was lost before the message was sent: ${why}`, {
      cause: error,
    });
  } finally {
    transport.close();
  }
}

/** A refusing reply of the server is a verdict. Without one it may have taken the message: undefined leaves that a doubt. */
export function classifySmtp(error: unknown): FailureClass | undefined {
  const code = replyCodeOf(error);
  if (code === undefined) return undefined;
  return code >= 500 ? "final" : "retryable";
}

function replyCodeOf(error: unknown): number | undefined {
  const { responseCode } = error as { readonly responseCode?: unknown };
  return typeof responseCode === "number" && responseCode >= 400 ? responseCode : undefined;
}
