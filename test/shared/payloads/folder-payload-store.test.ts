import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderPayloadStore } from "../../../shared/payloads/folder-payload-store.ts";
import { payloadStoreContract } from "./payload-store-contract.ts";

const newFolder = () => mkdtemp(join(tmpdir(), "surefoot-payloads-"));

describe("a payload store in a folder", () => {
  payloadStoreContract(async () => {
    const folder = await newFolder();
    return {
      store: folderPayloadStore(folder),
      tamper: (key, text) => writeFile(join(folder, key), text),
      keys: async () => {
        const entries = await readdir(folder, { recursive: true, withFileTypes: true });
        return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
      },
      close: () => rm(folder, { recursive: true }),
    };
  });

  it("does not call a payload missing that it only cannot read", async () => {
    const folder = await newFolder();
    await mkdir(join(folder, "run-1", "abc"), { recursive: true });
    const read = folderPayloadStore(folder).get({ key: "run-1/abc", sha256: "abc", bytes: 70_000 });
    await expect(read).rejects.toMatchObject({ code: "EISDIR" });
    await rm(folder, { recursive: true });
  });
});
