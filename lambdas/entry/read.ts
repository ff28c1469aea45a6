import { handle } from "hono/aws-lambda";
import { createReadApp } from "../api/read-app.ts";
import { readAgentNames } from "../env.ts";
import { wire } from "../wiring.ts";

export const handler = handle(createReadApp(readAgentNames(process.env), wire("surefoot-read", process.env)));
