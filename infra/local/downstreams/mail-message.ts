/** What a received message says, as far as anybody here asks. */
export interface MailContent {
  readonly subject: string;
  readonly messageId: string | null;
  /** `X-Surefoot-Operation`, where the sender set it. */
  readonly operationId: string | null;
  /** The first text/plain part, decoded. */
  readonly text: string;
}

interface Part {
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Reads an RFC 5322 message with MIME text (RFC 2045 to 2047). Attachments and HTML are passed over. */
export function readMailMessage(raw: Buffer): MailContent {
  // latin1 keeps every byte as one character, so that a part's own charset can be applied after its transfer encoding
  const message = splitPart(raw.toString("latin1"));
  const header = (name: string) => message.headers.get(name) ?? null;
  return {
    subject: decodeWords(header("subject") ?? ""),
    messageId: header("message-id"),
    operationId: header("x-surefoot-operation"),
    text: (plainText(message) ?? "").replaceAll("\r\n", "\n").trimEnd(),
  };
}

function splitPart(source: string): Part {
  const end = source.search(/\r?\n\r?\n/);
  const head = end === -1 ? source : source.slice(0, end);
  const body = end === -1 ? "" : source.slice(end).replace(/^\r?\n\r?\n/, "");
  const headers = new Map<string, string>();
  for (const line of head.replace(/\r?\n[ \t]+/g, " ").split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return { headers, body };
}

function plainText({ headers, body }: Part): string | undefined {
  const type = headers.get("content-type") ?? "text/plain";
  if (/^multipart\//i.test(type)) {
    const boundary = /boundary="?([^";]+)"?/i.exec(type)?.[1];
    if (boundary === undefined) return undefined;
    const parts = body
      .split(new RegExp(`(?:^|\\r?\\n)--${escapeRegExp(boundary)}(?:--)?[ \\t]*(?:\\r?\\n|$)`))
      .slice(1, -1);
    for (const part of parts) {
      const text = plainText(splitPart(part));
      if (text !== undefined) return text;
    }
    return undefined;
  }
  if (!/^text\/plain/i.test(type)) return undefined;
  const bytes = decodeTransfer(body, headers.get("content-transfer-encoding") ?? "7bit");
  return decodeCharset(bytes, /charset="?([\w-]+)"?/i.exec(type)?.[1] ?? "utf-8");
}

function decodeTransfer(body: string, encoding: string): Buffer {
  switch (encoding.toLowerCase()) {
    case "base64":
      return Buffer.from(body, "base64");
    case "quoted-printable":
      return decodeQuoted(body.replace(/=[ \t]*\r?\n/g, ""));
    default:
      return Buffer.from(body, "latin1");
  }
}

/** RFC 2047: `=?utf-8?Q?Gr=C3=BC=C3=9Fe?=`; white space between two encoded words is not part of the text. */
function decodeWords(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, "?==?")
    .replace(/=\?([^?]+)\?([bq])\?([^?]*)\?=/gi, (_, charset: string, encoding: string, word: string) => {
      const isBase64 = encoding.toLowerCase() === "b";
      return decodeCharset(isBase64 ? Buffer.from(word, "base64") : decodeQuoted(word.replaceAll("_", " ")), charset);
    });
}

function decodeQuoted(text: string): Buffer {
  return Buffer.from(
    text.replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    "latin1",
  );
}

function decodeCharset(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString("utf8"); // an unknown charset label: readable is better than lost
  }
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
