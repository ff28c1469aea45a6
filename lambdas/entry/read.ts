import { handle } from "hono/aws-lambda";
import { withApprovalPages } from "../api/approval-pages.ts";
import { createReadApp } from "../api/read-app.ts";
import { createReleasesApp } from "../api/releases-app.ts";
import { readAgentNames } from "../env.ts";
import { wire } from "../wiring.ts";

const ports = wire("surefoot-read", process.env);
const agents = readAgentNames(process.env);
const api = createReadApp(agents, ports).route("/", createReleasesApp(agents, ports));

export const handler = handle(withApprovalPages(api, agents, ports));
