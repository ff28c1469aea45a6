import agents from "surefoot:agents";
import { createReleaseHandler } from "../release/release-handler.ts";
import { wire } from "../wiring.ts";

// Wired when it is asked: a missing setting is then told to CloudFormation, which would wait for it otherwise.
export const handler = createReleaseHandler(agents, () => wire("surefoot-release", process.env));
