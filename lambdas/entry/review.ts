import { handle } from "hono/aws-lambda";
import { createReviewApp } from "../api/review-app.ts";
import { readApprovers } from "../env.ts";
import { wireKeyRings } from "../wire-notices.ts";
import { wire } from "../wiring.ts";

export const handler = handle(
  createReviewApp({
    ...wire("surefoot-review", process.env),
    keyRings: wireKeyRings(process.env),
    approvers: readApprovers(process.env),
  }),
);
