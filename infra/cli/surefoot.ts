#!/usr/bin/env node
import { CommanderError } from "commander";
import { CliError } from "./cli-error.ts";
import { createProgram, isShapeError } from "./program.ts";

// The AWS SDK announces its next Node floor at every start. Ours is in package.json; the notice says nothing a user can act on.
process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true";

const json = process.argv.includes("--json");

/** No stack trace for a user's mistake; a bug here keeps its own. */
function fail(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const [exitCode, code, message] =
    error instanceof CliError
      ? ([error.exitCode, error.code, error.message] as const)
      : isShapeError(error)
        ? ([
            1,
            "unexpected_answer",
            `the API answered in a shape this version does not know: ${error.issues[0]?.message ?? ""}`,
          ] as const)
        : ([1, "failed", error instanceof Error ? error.message : String(error)] as const);
  process.stderr.write(`surefoot: ${message}\n`);
  if (process.env["SUREFOOT_DEBUG"] !== undefined && error instanceof Error)
    process.stderr.write(`${error.stack ?? ""}\n`);
  if (json) process.stdout.write(`${JSON.stringify({ error: { code, message } })}\n`);
  return exitCode;
}

try {
  await createProgram().parseAsync();
} catch (error) {
  process.exitCode = fail(error);
}
