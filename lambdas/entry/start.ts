import { handle } from "hono/aws-lambda";
import agents from "surefoot:agents";
import { createStartApp } from "../api/start-app.ts";
import { readContracts, readStateMachines } from "../env.ts";
import { wire } from "../wiring.ts";

export const handler = handle(
  createStartApp(
    agents,
    { stateMachines: readStateMachines(process.env), contracts: readContracts(process.env) },
    wire("surefoot-start", process.env),
  ),
);
