import { Hono } from "hono";
import { handle } from "hono/aws-lambda";
import { createDecideApp } from "../api/decide-app.ts";
import { withDecisionForms } from "../api/decide-pages.ts";
import { createRemindApp } from "../api/remind-app.ts";
import { wireNotices } from "../wire-notices.ts";
import { wire } from "../wiring.ts";

const ports = wire("surefoot-decide", process.env);
const notices = wireNotices(process.env, ports.noticeLog);
const api = new Hono().route("/", createRemindApp({ ...ports, notices })).route("/", createDecideApp(ports));

export const handler = handle(withDecisionForms(api, { ...ports, approvers: notices.approvers }));
