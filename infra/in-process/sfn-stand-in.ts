import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  InvalidToken,
  SendTaskFailureCommand,
  SendTaskSuccessCommand,
  type SFNClient,
  SFNServiceException,
  StartExecutionCommand,
  TaskDoesNotExist,
  TaskTimedOut,
} from "@aws-sdk/client-sfn";
import { ServiceError } from "../local/step-functions/service-error.ts";
import type { StepFunctionsService } from "../local/step-functions/step-functions-service.ts";
import type { Actor } from "./actor.ts";
import { describeSfn } from "./describe-command.ts";
import type { Scheduler } from "./scheduler.ts";

type Command = Parameters<SFNClient["send"]>[0];

/** Step Functions as one process sees it: the interpreter of this world, behind the gate, in the words of the SDK. */
export function sfnStandIn(service: StepFunctionsService, scheduler: Scheduler, actor: Actor): SFNClient {
  const send = (command: Command): Promise<unknown> =>
    scheduler.pass(actor, { ...describeSfn(command), land: async () => perform(service, command) });
  // Only `send` is used of it.
  return { send } as unknown as SFNClient;
}

function perform(service: StepFunctionsService, command: Command): object {
  try {
    // The adapters fill in what the SDK's types call optional; the service checks what matters.
    if (command instanceof StartExecutionCommand) return service.startExecution(command.input as never);
    if (command instanceof DescribeExecutionCommand) return service.describeExecution(command.input as never);
    if (command instanceof SendTaskSuccessCommand) service.sendTaskSuccess(command.input as never);
    else if (command instanceof SendTaskFailureCommand) service.sendTaskFailure(command.input as never);
    else throw new RangeError(`the in-process Step Functions does not know ${command.constructor.name}: add it here`);
    return {};
  } catch (error) {
    throw error instanceof ServiceError ? inSdkWords(error) : error;
  }
}

/** The exceptions that our adapters tell apart. */
const exceptions = { ExecutionAlreadyExists, ExecutionDoesNotExist, InvalidToken, TaskDoesNotExist, TaskTimedOut };

function inSdkWords({ code, message }: ServiceError): Error {
  const options = { message, $metadata: { httpStatusCode: 400 } };
  if (!(code in exceptions)) return new SFNServiceException({ ...options, name: code, $fault: "client" });
  return new exceptions[code as keyof typeof exceptions](options);
}
