import { handle } from "hono/aws-lambda";
import { withApprovalPages } from "../api/approval-pages.ts";
import { createReadApp } from "../api/read-app.ts";
import { readAgentNames } from "../env.ts";
import { wire } from "../wiring.ts";

const ports = wire("surefoot-read", process.env);
const agents = readAgentNames(process.env);

export const handler = handle(withApprovalPages(createReadApp(agents, ports), agents, ports));
