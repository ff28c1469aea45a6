import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "../faults/fault.ts";
import type { PayloadStore } from "./payload-store.ts";

/** Large values in a local folder. A value appears whole or not at all: it is written beside its place and renamed. */
export function folderPayloadStore(folder: string): PayloadStore {
  return {
    async put(ref, text) {
      const file = join(folder, ref.key);
      await mkdir(dirname(file), { recursive: true });
      const draft = `${file}.${process.pid}.draft`;
      await writeFile(draft, text, { encoding: "utf8", flush: true });
      await rename(draft, file);
    },
    async get(ref) {
      try {
        return await readFile(join(folder, ref.key), "utf8");
      } catch (cause) {
        throw new Fault(
          "payload_missing",
          "final",
          `payload ${ref.key} is not in ${folder}: it was deleted or never written`,
          { cause },
        );
      }
    },
  };
}
