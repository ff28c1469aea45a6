/**
 * Exit codes: 0 done · 1 it was tried and did not succeed · 2 the command or its input is wrong, nothing was tried · 3 nobody answers at
 * the API.
 */
export type ExitCode = 0 | 1 | 2 | 3;

/** What a person is told instead of a stack trace. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;
  readonly code: string;
  /** What else the API said, for `--json`. */
  readonly details: Readonly<Record<string, unknown>>;
  constructor(exitCode: ExitCode, code: string, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
    this.details = details;
  }
}
