import { appendFile } from "node:fs/promises";
import { type Channel, oneEach } from "./channel.ts";

/** One JSON line a notice, appended to a file: the inbox of whoever runs agents on their own machine. */
export const fileChannel = (file: string): Channel => ({
  name: "file",
  audience: oneEach,
  async send(notice) {
    // It holds links that decide: for its owner's eyes.
    await appendFile(file, `${JSON.stringify(notice)}\n`, { mode: 0o600 });
  },
});
