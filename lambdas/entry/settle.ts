import { createSettleHandler } from "../settle/settle-handler.ts";
import { wire } from "../wiring.ts";

export const handler = createSettleHandler(wire("surefoot-settle", process.env));
