import { createSweepHandler } from "../sweep/sweep-handler.ts";
import { wire } from "../wiring.ts";

export const handler = createSweepHandler(wire("surefoot-sweep", process.env));
