import { handle } from "hono/aws-lambda";
import agents from "surefoot:agents";
import { createStartApp } from "../api/start-app.ts";
import { readStateMachines } from "../env.ts";
import { wire } from "../wiring.ts";

export const handler = handle(
  createStartApp(agents, readStateMachines(process.env), wire("surefoot-start", process.env)),
);
