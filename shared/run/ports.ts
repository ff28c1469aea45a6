import type { Ledger } from "../ledger/ledger.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { ModelPort } from "../model/model-port.ts";
import type { PayloadStore } from "../payloads/payload-store.ts";
import type { DeliveryQueue } from "../ports/delivery-queue.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { Logger } from "../ports/logger.ts";
import type { RunLog } from "../runlog/run-log.ts";

/** What every part of a run needs. */
export interface RunPorts {
  readonly log: RunLog;
  readonly payloads: PayloadStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** What running nodes needs beside that. */
export interface NodePorts extends RunPorts {
  readonly ledger: Ledger;
  readonly models: ModelPort;
  /** Ends the process once a call ignored its abort. */
  readonly endProcess: () => void;
  readonly queue: DeliveryQueue;
}
