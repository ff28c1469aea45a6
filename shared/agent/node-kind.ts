import { z } from "zod";

/** What a node does. `route` only chooses; `compute` is pure code; the others reach outside. */
export const NodeKind = z.enum(["model", "read", "write", "approval", "compute", "route"]);
export type NodeKind = z.infer<typeof NodeKind>;
