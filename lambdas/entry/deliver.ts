import { createDeliverHandler } from "../deliver/deliver-handler.ts";
import { readReceivesMax } from "../env.ts";
import { wire, wireMessagesInHand } from "../wiring.ts";

export const handler = createDeliverHandler(
  readReceivesMax(process.env),
  wire("surefoot-deliver", process.env),
  wireMessagesInHand(process.env),
);
