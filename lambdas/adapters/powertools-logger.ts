import { Logger as PowertoolsLogger } from "@aws-lambda-powertools/logger";
import type { Logger } from "../../shared/ports/logger.ts";

/** JSON lines in Powertools' shape. */
export function powertoolsLogger(service: string): Logger {
  const logger = new PowertoolsLogger({ serviceName: service });
  return {
    info: (message, fields) => logger.info(message, { ...fields }),
    warn: (message, fields) => logger.warn(message, { ...fields }),
    error: (message, fields) => logger.error(message, { ...fields }),
  };
}
