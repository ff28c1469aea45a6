import { randomBytes } from "node:crypto";
import { closeSync, existsSync, openSync, readSync, statSync, unwatchFile, watchFile, writeFileSync } from "node:fs";
import { join } from "node:path";
import { envNames } from "../../lambdas/env.ts";
import { Notice } from "../../shared/notify/notice.ts";

/** Between two looks at the file: a person waits for the line. */
const lookEveryMs = 250;
const keyBytes = 32;

/** How people are told about approvals on this machine. */
export interface LocalNotices {
  /** For the functions that tell people, and for the one that opens their links. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where each notice is a line of JSON. It holds links that decide. */
  readonly file: string;
}

export interface LocalNoticesOptions {
  readonly folder: string;
  /** Of the HTTP API. */
  readonly url: string;
  /** Name → roles, separated by commas. */
  readonly approvers: Readonly<Record<string, string>>;
  readonly webhook: { readonly url: string; readonly approver?: string } | undefined;
}

/** Makes what a stack would have: a key ring, kept over restarts so that open links stay good, and a place for notices. */
export function prepareNotices({ folder, url, approvers, webhook }: LocalNoticesOptions): LocalNotices {
  const keys = join(folder, "link-keys.json");
  const file = join(folder, "notices.jsonl");
  if (!existsSync(keys)) {
    const ring = { current: "local", keys: { local: randomBytes(keyBytes).toString("base64") } };
    writeFileSync(keys, JSON.stringify(ring), { mode: 0o600 });
  }
  if (!existsSync(file)) writeFileSync(file, "", { mode: 0o600 });
  return {
    file,
    environment: {
      [envNames.publicUrl]: url,
      [envNames.linkKeysFile]: keys,
      [envNames.noticesFile]: file,
      [envNames.approvers]: JSON.stringify(approvers),
      ...(webhook && { [envNames.webhookUrl]: webhook.url }),
      ...(webhook?.approver !== undefined && { [envNames.webhookApprover]: webhook.approver }),
    },
  };
}

/** Calls `onNotice` for each notice from now on. @returns what ends it, after the last one was read. */
export function watchNotices(file: string, onNotice: (notice: Notice) => void): () => void {
  let offset = statSync(file).size;
  const look = () => {
    const text = readFrom(file, offset);
    offset += Buffer.byteLength(text, "utf8");
    for (const line of text.split("\n")) {
      const notice = Notice.safeParse(jsonOf(line));
      if (notice.success) onNotice(notice.data);
    }
  };
  watchFile(file, { interval: lookEveryMs, persistent: false }, look);
  return () => {
    unwatchFile(file, look);
    look();
  };
}

function readFrom(file: string, offset: number): string {
  if (!existsSync(file)) return "";
  const bytes = Buffer.alloc(Math.max(0, statSync(file).size - offset));
  const handle = openSync(file, "r");
  try {
    const read = readSync(handle, bytes, 0, bytes.length, offset);
    // Whole lines only: half a character is read again with its other half.
    return bytes.subarray(0, bytes.lastIndexOf("\n", read) + 1).toString("utf8");
  } finally {
    closeSync(handle);
  }
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
