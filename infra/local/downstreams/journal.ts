import { closeSync, existsSync, fsyncSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";

/** An append-only file of JSON lines that outlives a `kill -9`. Without a file it keeps nothing. */
export interface Journal<Entry> {
  /** Returns after fsync, unless `durable` is false: such a line survives the process, but perhaps not the machine. */
  append(entry: Entry, options?: { readonly durable: boolean }): void;
  close(): void;
}

/** Gives every complete line of `file` to `replay`, then appends. A last line without its newline was cut off by a crash
 *  before its fsync returned, so nobody was told of it: it is removed.
 *  @throws Error for a complete line that does not parse: the file is somebody else's or damaged. */
export function openJournal<Entry>(
  file: string | undefined,
  schema: z.ZodType<Entry>,
  replay: (entry: Entry) => void,
): Journal<Entry> {
  if (file === undefined) return { append: () => undefined, close: () => undefined };
  mkdirSync(dirname(file), { recursive: true });
  const stored = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  const completeBytes = stored.lastIndexOf("\n") + 1;
  const lines = stored.subarray(0, completeBytes).toString("utf8").split("\n").slice(0, -1);
  lines.forEach((line, index) => replay(parseLine(line, `${file}:${index + 1}`, schema)));

  const handle = openSync(file, "a");
  if (completeBytes < stored.length) ftruncateSync(handle, completeBytes);
  return {
    append(entry, { durable } = { durable: true }) {
      writeSync(handle, `${JSON.stringify(entry)}\n`);
      if (durable) fsyncSync(handle);
    },
    close: () => closeSync(handle),
  };
}

function parseLine<Entry>(line: string, where: string, schema: z.ZodType<Entry>): Entry {
  try {
    return schema.parse(JSON.parse(line));
  } catch (cause) {
    const detail = cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause);
    throw new Error(
      `${where} is not a line this server wrote (${detail}): name another --data file, or move this one.`,
      {
        cause,
      },
    );
  }
}
