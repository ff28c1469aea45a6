import { createSweepHandler } from "../sweep/sweep-handler.ts";
import { wireNotices } from "../wire-notices.ts";
import { wire } from "../wiring.ts";

const ports = wire("surefoot-sweep", process.env);

export const handler = createSweepHandler({ ...ports, notices: wireNotices(process.env, ports.noticeLog) });
