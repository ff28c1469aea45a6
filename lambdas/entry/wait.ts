import { createWaitHandler } from "../wait/wait-handler.ts";
import { wire } from "../wiring.ts";

export const handler = createWaitHandler(wire("surefoot-wait", process.env));
