import type { LogFields, Logger } from "../../shared/ports/logger.ts";

/** Remembers what was logged. */
export class RecordingLogger implements Logger {
  readonly lines: {
    readonly level: "info" | "warn" | "error";
    readonly message: string;
    readonly fields: LogFields;
  }[] = [];

  info(message: string, fields: LogFields): void {
    this.lines.push({ level: "info", message, fields });
  }
  warn(message: string, fields: LogFields): void {
    this.lines.push({ level: "warn", message, fields });
  }
  error(message: string, fields: LogFields): void {
    this.lines.push({ level: "error", message, fields });
  }
}
