import { handle } from "hono/aws-lambda";
import { createControlApp } from "../api/control-app.ts";
import { wire } from "../wiring.ts";

export const handler = handle(createControlApp(wire("surefoot-control", process.env)));
