import { appendFile } from "node:fs/promises";
import { z } from "zod";
import { defineAgent, none, readTool, seconds, writeTool } from "../../../shared/index.ts";

process.env["AWS_SDK_UA_APP_ID"] = String(process.pid);

/** The file that is the other side: one line an effect. */
export const effectsFileName = "E2E_EFFECTS_FILE";

const Text = z.object({ text: z.string() });
/** `letter` as often as fits exactly into `bytes` of UTF-8. */
const Sized = z.object({ name: z.string(), letter: z.string(), bytes: z.number().int() });
const textOf = (letter: string, bytes: number) => letter.repeat(bytes / Buffer.byteLength(letter));

const fetchText = readTool("fetch_text", {
  version: 1,
  input: Sized,
  output: Text,
  timeout: seconds(10),
  execute: async ({ letter, bytes }) => ({ text: textOf(letter, bytes) }),
});

const oneMegabyte = 1024 * 1024;

const fileText = writeTool("file_text", {
  version: 1,
  risk: "low",
  input: z.object({ name: z.string(), letter: z.string(), text: z.string() }),
  output: Text,
  timeout: seconds(10),
  downstream: none(),
  semanticFields: ["name", "text"],
  execute: async ({ name, letter, text }) => {
    await appendFile(process.env[effectsFileName] ?? "", `${name} ${Buffer.byteLength(text)}\n`);
    return { text: textOf(letter, oneMegabyte) };
  },
});

/** Carries large texts through a read, a request and a result, and measures what arrives. */
export default defineAgent("large-results", { version: 1, input: Sized })
  .read("fetch", { tool: fetchText, with: ({ input }) => input })
  .write("file", {
    tool: fileText,
    with: ({ input, fetch }) => ({ name: input.name, letter: input.letter, text: fetch.text }),
    businessKey: ({ input }) => input.name,
  })
  .compute("measure", {
    output: z.object({ fetched: z.number(), filed: z.number() }),
    run: ({ fetch, file }) => ({ fetched: Buffer.byteLength(fetch.text), filed: Buffer.byteLength(file.text) }),
  })
  .end();
