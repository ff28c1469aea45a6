import { LambdaClient } from "@aws-sdk/client-lambda";
import { S3Client } from "@aws-sdk/client-s3";
import { SFNClient } from "@aws-sdk/client-sfn";
import { SQSClient } from "@aws-sdk/client-sqs";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createDocumentClient } from "../shared/dynamo/dynamo-client.ts";
import { dynamoLedgerStore } from "../shared/ledger/dynamo-ledger-store.ts";
import { createLedger, type Ledger } from "../shared/ledger/ledger.ts";
import type { LedgerStore } from "../shared/ledger/ledger-store.ts";
import { folderPayloadStore } from "../shared/payloads/folder-payload-store.ts";
import type { PayloadStore } from "../shared/payloads/payload-store.ts";
import { s3PayloadStore } from "../shared/payloads/s3-payload-store.ts";
import { dynamoNoticeLog } from "../shared/notify/dynamo-notice-log.ts";
import type { NoticeLog } from "../shared/notify/notice-log.ts";
import type { DeliveryQueue } from "../shared/ports/delivery-queue.ts";
import type { Executions, Waker } from "../shared/ports/executions.ts";
import type { MessagesInHand } from "../shared/ports/messages-in-hand.ts";
import { dynamoReleases } from "../shared/release/dynamo-releases.ts";
import type { Releases } from "../shared/release/releases.ts";
import type { RunPorts } from "../shared/run/ports.ts";
import { dynamoRunLog } from "../shared/runlog/dynamo-run-log.ts";
import { sfnExecutions, sfnWaker } from "../shared/sfn/sfn-executions.ts";
import { lambdaPinnedFunctions } from "../shared/aws-lambda/lambda-pinned-functions.ts";
import { sfnExecutionStates } from "../shared/sfn/sfn-execution-states.ts";
import { dynamoSweepState } from "../shared/sweep/dynamo-sweep-state.ts";
import type { ExecutionStates, PinnedFunctions, SweepStateStore } from "../shared/sweep/sweep-ports.ts";
import { sqsDeliveryQueue } from "../shared/sqs/sqs-delivery-queue.ts";
import { sqsMessagesInHand } from "../shared/sqs/sqs-messages-in-hand.ts";
import { powertoolsLogger } from "./adapters/powertools-logger.ts";
import { powertoolsMetrics } from "./adapters/powertools-metrics.ts";
import { systemClock } from "./adapters/system-clock.ts";
import { systemIds } from "./adapters/system-ids.ts";
import { type Environment, envNames, readTables, SettingsError } from "./env.ts";

/** The real ports, built once per process. */
export interface Wiring extends RunPorts {
  readonly ledger: Ledger;
  readonly ledgerStore: LedgerStore;
  readonly executions: Executions;
  readonly waker: Waker;
  readonly queue: DeliveryQueue;
  readonly functions: PinnedFunctions;
  readonly executionStates: ExecutionStates;
  readonly sweepState: SweepStateStore;
  readonly noticeLog: NoticeLog;
  readonly releases: Releases;
}

export function wire(service: string, env: Environment): Wiring {
  const clients = {
    dynamo: createDocumentClient(),
    sfn: new SFNClient({}),
    lambda: new LambdaClient({ maxAttempts: 1 }),
  };
  return portsOver(clients, {
    tables: readTables(env),
    clock: systemClock,
    ids: systemIds,
    payloads: payloadStore(env),
    metrics: powertoolsMetrics(),
    logger: powertoolsLogger(service),
    queue: deliveryQueue(env),
  });
}

/** What leads to AWS, or to whatever stands in its place. */
export interface Clients {
  readonly dynamo: DynamoDBDocumentClient;
  readonly sfn: SFNClient;
  readonly lambda: LambdaClient;
}

/** The ports that no client makes. */
export type Surroundings = Omit<RunPorts, "log"> & {
  readonly tables: ReturnType<typeof readTables>;
  readonly queue: DeliveryQueue;
};

/** The one place where ports are made of clients: a drill that stands in for AWS runs on the same adapters. */
export function portsOver({ dynamo, sfn, lambda }: Clients, { tables, ...given }: Surroundings): Wiring {
  const ledgerStore = dynamoLedgerStore(dynamo, tables.ledgerTable);
  const { clock, ids } = given;
  return {
    ...given,
    log: dynamoRunLog({ client: dynamo, table: tables.runsTable, clock, ids }),
    ledgerStore,
    ledger: createLedger({ store: ledgerStore, clock, ids }),
    executions: sfnExecutions(sfn),
    waker: sfnWaker(sfn),
    functions: lambdaPinnedFunctions(lambda, clock),
    executionStates: sfnExecutionStates(sfn),
    sweepState: dynamoSweepState(dynamo, tables.runsTable),
    noticeLog: dynamoNoticeLog(dynamo, tables.runsTable),
    releases: dynamoReleases(dynamo, tables.runsTable),
  };
}

function deliveryQueue(env: Environment): DeliveryQueue {
  const url = env[envNames.deliveryQueueUrl];
  if (url !== undefined) return sqsDeliveryQueue(new SQSClient({}), url);
  return {
    send: () => Promise.reject(new SettingsError(`an agent queues, but ${envNames.deliveryQueueUrl} is not set`)),
  };
}

/** Of the worker behind the delivery queue. */
export function wireMessagesInHand(env: Environment): MessagesInHand {
  const url = env[envNames.deliveryQueueUrl];
  if (url === undefined)
    throw new SettingsError(`set ${envNames.deliveryQueueUrl}: the queue that this worker works for`);
  return sqsMessagesInHand(new SQSClient({}), url);
}

function payloadStore(env: Environment): PayloadStore {
  const folder = env[envNames.payloadsFolder];
  if (folder !== undefined) return folderPayloadStore(folder);
  const bucket = env[envNames.payloadsBucket];
  if (bucket === undefined) throw new SettingsError(`set ${envNames.payloadsBucket} or ${envNames.payloadsFolder}`);
  return s3PayloadStore(new S3Client({}), bucket);
}
