import { handle } from "hono/aws-lambda";
import { createControlApp } from "../api/control-app.ts";
import { createRetireApp } from "../api/retire-app.ts";
import { wire } from "../wiring.ts";

const ports = wire("surefoot-control", process.env);

export const handler = handle(createControlApp(ports).route("/", createRetireApp(ports)));
