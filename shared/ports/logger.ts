/** The ids that tie a log line to a run. None of them is user data. */
export interface LogContext {
  readonly run_id?: string;
  readonly workflow_id?: string;
  readonly operation_id?: string;
  readonly position?: string;
  readonly workflow_version?: number;
}

export type LogFields = LogContext & Readonly<Record<string, string | number | boolean | undefined>>;

/** Structured log lines. Fields hold ids, codes and counts; never payloads, tokens or links. */
export interface Logger {
  info(message: string, fields: LogFields): void;
  warn(message: string, fields: LogFields): void;
  error(message: string, fields: LogFields): void;
}
