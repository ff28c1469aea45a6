import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";

/** CloudWatch's limit for one event; a function that never ends its line must not fill our memory. */
const lineCharactersMax = 256 * 1024;

/** Calls `onLine` for each line of a text stream, and for what is left when it ends. */
export function readLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line.replace(/\r$/, ""));
    if (rest.length <= lineCharactersMax) return;
    onLine(rest);
    rest = "";
  });
  stream.on("end", () => {
    if (rest !== "") onLine(rest);
  });
}

export interface LogFiles {
  write(name: string, line: string): void;
  close(): void;
}

/** One appended file per name. Written synchronously, so that a line is on disk before anything that follows from it, even if we are killed. */
export function openLogFiles(folder: string): LogFiles {
  const files = new Map<string, number>();
  let closed = false;
  mkdirSync(folder, { recursive: true });
  return {
    write: (name, line) => {
      if (closed) return; // the last lines of a killed process may arrive after everything else has stopped
      const file = files.get(name) ?? openSync(join(folder, `${name.replace(/[^\w.-]/g, "_")}.log`), "a");
      files.set(name, file);
      writeSync(file, `${line}\n`);
    },
    close: () => {
      closed = true;
      for (const file of files.values()) closeSync(file);
    },
  };
}
