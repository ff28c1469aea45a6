#!/usr/bin/env node
import { CommanderError } from "commander";
import { z } from "zod";
import { CliError } from "./cli-error.ts";
import { createProgram } from "./program.ts";

// The AWS SDK announces its next Node floor at every start. Ours is in package.json; the notice says nothing a user can act on.
process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true";

// `surefoot runs | head -1` has read enough, and that is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

const json = process.argv.includes("--json");
const debug = process.env["SUREFOOT_DEBUG"] !== undefined;

/** No stack trace for a user's mistake; a bug here keeps its own, behind SUREFOOT_DEBUG. */
function fail(error: unknown): number {
  const help = error instanceof CommanderError && error.exitCode === 0;
  if (help) return 0;
  const told = toldOf(error);
  // commander has said it already.
  if (!(error instanceof CommanderError)) process.stderr.write(`surefoot: ${told.message}\n`);
  if (debug && error instanceof Error) process.stderr.write(`${error.stack ?? ""}\n`);
  const { code, message, details } = told;
  if (json) process.stdout.write(`${JSON.stringify({ error: { code, message }, ...details })}\n`);
  return told.exitCode;
}

function toldOf(error: unknown): Pick<CliError, "exitCode" | "code" | "message" | "details"> {
  if (error instanceof CliError) return error;
  if (error instanceof CommanderError) {
    const message = error.code === "commander.help" ? "expected a command" : error.message.replace(/^error: /u, "");
    return { exitCode: 2, code: "usage", message, details: {} };
  }
  if (error instanceof z.ZodError) {
    const [issue] = error.issues;
    const what = `${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`;
    const message = `the API answered in a shape that this version does not know (${what}): is it of another version?`;
    return { exitCode: 1, code: "unexpected_answer", message, details: {} };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { exitCode: 1, code: "failed", message: `${message} (SUREFOOT_DEBUG=1 shows where)`, details: {} };
}

try {
  await createProgram().parseAsync();
} catch (error) {
  process.exitCode = fail(error);
}
