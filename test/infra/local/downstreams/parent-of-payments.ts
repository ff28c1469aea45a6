import { startDownstream } from "../../../../infra/local/downstreams/downstream-process.ts";

/** A parent to kill: starts a payments server and tells its address. */
const { url } = await startDownstream("payments");
process.send?.(url);
