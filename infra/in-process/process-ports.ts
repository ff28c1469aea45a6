import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { portsOver, type Wiring } from "../../lambdas/wiring.ts";
import { ledgerTable } from "../../shared/ledger/ledger-table.ts";
import type { ModelPort } from "../../shared/model/model-port.ts";
import type { PayloadStore } from "../../shared/payloads/payload-store.ts";
import type { Ids } from "../../shared/ports/ids.ts";
import type { MessagesInHand } from "../../shared/ports/messages-in-hand.ts";
import type { NodePorts } from "../../shared/run/ports.ts";
import { runsTable } from "../../shared/runlog/runs-table.ts";
import { sqsDeliveryQueue } from "../../shared/sqs/sqs-delivery-queue.ts";
import { sqsMessagesInHand } from "../../shared/sqs/sqs-messages-in-hand.ts";
import type { StepFunctionsService } from "../local/step-functions/step-functions-service.ts";
import { describeDynamo } from "./describe-command.ts";
import type { FifoQueue } from "./fifo-queue.ts";
import type { Functions } from "./functions.ts";
import type { Invocation } from "./invocation.ts";
import type { Recorder } from "./recorder.ts";
import type { Scheduler } from "./scheduler.ts";
import { sfnStandIn } from "./sfn-stand-in.ts";
import { sqsStandIn } from "./sqs-stand-in.ts";

/** What a world has of everything, before any process sees it. */
export interface Platform {
  readonly scheduler: Scheduler;
  readonly dynamo: DynamoDBDocumentClient;
  readonly payloads: PayloadStore;
  readonly stepFunctions: StepFunctionsService;
  readonly functions: Functions;
  readonly queue: FifoQueue;
  readonly models: ModelPort;
  readonly ids: Ids;
  readonly recorder: Recorder;
  /** Told of every command that reached DynamoDB. */
  readonly onStored: (input: object) => void;
}

export interface ProcessPorts extends Wiring, NodePorts {
  readonly messagesInHand: MessagesInHand;
}

/** There is one queue, whatever its address. */
const queueUrl = "in-process";

/** The ports of one process: the adapters that run on AWS, over clients that pass the gate. */
export function processPorts(process: Invocation, platform: Platform): ProcessPorts {
  const { scheduler, stepFunctions, functions, queue, recorder, ids } = platform;
  const sqs = sqsStandIn(queue, scheduler, process);
  const wiring = portsOver(
    {
      dynamo: dynamoOf(process, platform),
      sfn: sfnStandIn(stepFunctions, scheduler, process),
      lambda: functions.client(process, scheduler),
    },
    {
      tables: { runsTable: runsTable.name, ledgerTable: ledgerTable.name },
      clock: process.clock,
      ids,
      payloads: payloadsOf(process, platform),
      metrics: recorder.metrics(process),
      logger: recorder.logger(process),
      queue: sqsDeliveryQueue(sqs, queueUrl),
    },
  );
  return {
    ...wiring,
    messagesInHand: sqsMessagesInHand(sqs, queueUrl),
    models: modelsOf(process, platform),
    endProcess: () => process.exit(),
  };
}

function dynamoOf(process: Invocation, { scheduler, dynamo, onStored }: Platform): DynamoDBDocumentClient {
  const send = (command: Parameters<DynamoDBDocumentClient["send"]>[0]): Promise<unknown> =>
    scheduler.pass(process, {
      ...describeDynamo(command),
      land: async () => {
        const answer = await dynamo.send(command);
        onStored(command.input);
        return answer;
      },
    });
  // Only `send` is used of it.
  return { send } as unknown as DynamoDBDocumentClient;
}

const payloadsOf = (process: Invocation, { scheduler, payloads }: Platform): PayloadStore => ({
  put: (ref, text) =>
    scheduler.pass(process, {
      port: "payloads",
      verb: "put",
      ids: { key: ref.key },
      land: () => payloads.put(ref, text),
    }),
  get: (ref) =>
    scheduler.pass(process, { port: "payloads", verb: "get", ids: { key: ref.key }, land: () => payloads.get(ref) }),
});

const modelsOf = (process: Invocation, { scheduler, models }: Platform): ModelPort => ({
  answer: (request) =>
    scheduler.pass(process, {
      port: "model",
      verb: "answer",
      ids: { node: request.name, model: request.model },
      signal: request.signal,
      foreign: true,
      land: () => models.answer(request),
    }),
});
