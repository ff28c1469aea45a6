/** The database's own process. Arguments: folder, port. Ends with its parent, however that ended. */
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import dynalite from "dynalite";
import type { DynaliteMessage } from "./dynalite-messages.ts";
import { type LevelDatabase, mendDatabase } from "./mend-database.ts";

/** A predecessor that was killed leaves a database process that needs a moment to see it and let go of the folder. */
const lockWaitMsMax = 3_000;
const lockPollMs = 50;

interface OpenFault {
  readonly message: string;
  readonly cause?: { readonly code?: string; readonly message: string };
}

const [path = "", port = "0"] = process.argv.slice(2);
const tell = (message: DynaliteMessage) => process.send?.(message);
process.once("disconnect", () => process.exit(0)); // every acknowledged write is already with the operating system

/**
 * Opens the database once beforehand: to mend what the last process left half done, and because dynalite reports a folder that is taken or
 * damaged only as "Database is closed".
 */
async function whyNotOpen(waitedMs = 0): Promise<string | undefined> {
  const { Level } = createRequire(createRequire(import.meta.url).resolve("dynalite"))("level") as {
    Level: new (path: string, options: { valueEncoding: "json" }) => LevelDatabase;
  };
  const database = new Level(path, { valueEncoding: "json" });
  try {
    await database.open();
    await mendDatabase(database);
    await database.close();
    return undefined;
  } catch (thrown) {
    const fault = thrown as OpenFault; // level wraps what LevelDB said
    if (fault.cause?.code !== "LEVEL_LOCKED") {
      return `expected a readable database in ${path}, found: ${fault.cause?.message ?? fault.message}. Move the folder away to start empty`;
    }
    if (waitedMs >= lockWaitMsMax) {
      return `${path} is in use by another runner, and one folder has one runner: stop that one, or choose another folder`;
    }
    await pause(lockPollMs);
    return whyNotOpen(waitedMs + lockPollMs);
  }
}

function serve(): void {
  const server = dynalite({ path, createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  server.on("request", (request) => {
    // dynalite rethrows a request's error: a client that is killed while it sends would take the database down with it.
    request.removeAllListeners("error").on("error", () => undefined);
  });
  server.once("error", (fault) => tell({ kind: "failed", why: fault.message }));
  server.listen(Number(port), "127.0.0.1", () => {
    tell({ kind: "ready", port: (server.address() as AddressInfo).port }); // a TCP server's address is never a pipe name
  });
}

mkdirSync(path, { recursive: true });
const why = await whyNotOpen();
if (why === undefined) serve();
else tell({ kind: "failed", why });
