import { createWaitHandler } from "../wait/wait-handler.ts";
import { wireNotices } from "../wire-notices.ts";
import { wire } from "../wiring.ts";

const ports = wire("surefoot-wait", process.env);

export const handler = createWaitHandler({ ...ports, notices: wireNotices(process.env, ports.noticeLog) });
