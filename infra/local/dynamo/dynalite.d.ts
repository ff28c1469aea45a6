/** The part of dynalite 4 that is used here; it is CommonJS and ships no types. */
declare module "dynalite" {
  import type { Server } from "node:http";

  interface DynaliteOptions {
    /** Folder of its LevelDB; in memory without one. */
    readonly path?: string;
    /** How long a table stays CREATING. 500 by default, the other two likewise. */
    readonly createTableMs?: number;
    readonly deleteTableMs?: number;
    readonly updateTableMs?: number;
  }

  /** Not listening yet. */
  export default function dynalite(options?: DynaliteOptions): Server;
}
