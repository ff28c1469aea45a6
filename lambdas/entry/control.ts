import { handle } from "hono/aws-lambda";
import { createControlApp } from "../api/control-app.ts";
import { createForkApp } from "../api/fork-app.ts";
import { createRetireApp } from "../api/retire-app.ts";
import { wire } from "../wiring.ts";

const ports = wire("surefoot-control", process.env);

const app = createControlApp(ports).route("/", createRetireApp(ports)).route("/", createForkApp(ports));

export const handler = handle(app);
