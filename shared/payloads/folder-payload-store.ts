import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "../faults/fault.ts";
import type { PayloadStore } from "./payload-store.ts";

/** Large values in a local folder. A value appears whole or not at all: it is written beside its place and renamed. */
export function folderPayloadStore(folder: string): PayloadStore {
  let puts = 0;
  return {
    async put(ref, text) {
      const file = join(folder, ref.key);
      await mkdir(dirname(file), { recursive: true });
      // A draft of its own for each put: of two writers of one value, the first to rename would take the other's away.
      const draft = `${file}.${process.pid}.${puts++}.draft`;
      await writeFile(draft, text, { encoding: "utf8", flush: true });
      await rename(draft, file);
    },
    async get(ref) {
      try {
        return await readFile(join(folder, ref.key), "utf8");
      } catch (cause) {
        if (!isMissing(cause)) throw cause;
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

const isMissing = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT";
