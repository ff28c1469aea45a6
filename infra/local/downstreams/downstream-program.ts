import { parseArgs } from "node:util";
import { z } from "zod";
import { exitWithParent } from "../child-process.ts";

export interface RunningDownstream {
  /** Protocol and control routes, `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Where mail goes; the mail server only. */
  readonly smtp?: { readonly host: string; readonly port: number };
  close(): Promise<void>;
}

/** What a child says once, as soon as it accepts connections. */
export const ReadyMessage = z.object({
  ready: z.literal(true),
  url: z.string(),
  smtp: z.object({ host: z.string(), port: z.number() }).optional(),
});
export type ReadyMessage = z.infer<typeof ReadyMessage>;

export interface ProgramFlags {
  readonly port: number | undefined;
  readonly smtpPort: number | undefined;
  readonly data: string | undefined;
  readonly script: string | undefined;
  readonly keyWindowMs: number | undefined;
}

/** Runs one downstream as this process: under a parent it reports over IPC and ends with the parent, from a shell it prints
 *  its address and runs until it is stopped. Nothing is flushed at the end because nothing is buffered. */
export async function runAsProgram(
  kind: string,
  start: (flags: ProgramFlags) => Promise<RunningDownstream>,
): Promise<void> {
  exitWithParent();
  const { values } = parseArgs({
    options: {
      port: { type: "string" },
      "smtp-port": { type: "string" },
      data: { type: "string" },
      script: { type: "string" },
      "key-window-ms": { type: "string" },
    },
  });
  const running = await start({
    port: wholeNumber("port", values.port),
    smtpPort: wholeNumber("smtp-port", values["smtp-port"]),
    data: values.data,
    script: values.script,
    keyWindowMs: wholeNumber("key-window-ms", values["key-window-ms"]),
  });
  const { url, smtp } = running;
  const ready: ReadyMessage = smtp === undefined ? { ready: true, url } : { ready: true, url, smtp };
  if (process.send !== undefined) process.send(ready);
  else console.log(`${kind}: ${url}${smtp === undefined ? "" : `, smtp://${smtp.host}:${smtp.port}`}`);
}

function wholeNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new Error(`--${flag} takes a whole number, but got "${text}".`);
  return Number(text);
}
