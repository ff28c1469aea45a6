import { handle } from "hono/aws-lambda";
import { createDecideApp } from "../api/decide-app.ts";
import { wire } from "../wiring.ts";

export const handler = handle(createDecideApp(wire("surefoot-decide", process.env)));
