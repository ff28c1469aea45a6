import { randomBytes } from "node:crypto";
import type {
  DescribeExecutionOutput,
  DescribeStateMachineOutput,
  GetExecutionHistoryOutput,
  HistoryEvent,
  ListExecutionsOutput,
  ListStateMachinesOutput,
} from "@aws-sdk/client-sfn";
import { checkArn, checkName, executionArn, LOCAL_ROLE_ARN, stateMachineArn } from "./arn.ts";
import { DefinitionError, parseDefinition, type Definition } from "./definition.ts";
import { Execution, type ExecutionEnd } from "./execution.ts";
import type { InvokeLambda } from "./invoke-port.ts";
import { textBytes } from "./json.ts";
import { pageOf } from "./page.ts";
import { PAYLOAD_BYTES_MAX } from "./payload-limit.ts";
import type { RequestOf } from "./requests.ts";
import { ServiceError, type ServiceErrorCode } from "./service-error.ts";
import { TaskTokens } from "./task-tokens.ts";
import type { EnginePorts } from "./thread.ts";
import { realTimers, type Timers } from "./timers.ts";

export interface StepFunctionsPorts {
  readonly invokeLambda: InvokeLambda;
  /** @default the machine's clock */
  readonly timers?: Timers;
  /** In [0, 1). @default Math.random */
  readonly random?: () => number;
  /** Ids and the secret part of task tokens: never the same twice, and not to be guessed. @default 256 random bits */
  readonly newId?: () => string;
}

export interface PublishedVersion {
  readonly name: string;
  readonly version: number;
  readonly definition: string;
}

interface StateMachine {
  readonly arn: string;
  readonly name: string;
  readonly text: string;
  readonly definition: Definition;
  readonly roleArn: string;
  readonly createdAt: Date;
}

/** Standard workflows in memory: everything is gone when the process ends, and nothing is ever forgotten before. */
export class StepFunctionsService {
  readonly #ports: EnginePorts;
  readonly #machines = new Map<string, StateMachine>();
  readonly #executions = new Map<string, Execution>();

  constructor(ports: StepFunctionsPorts) {
    const newId = ports.newId ?? (() => randomBytes(32).toString("base64url"));
    this.#ports = {
      invokeLambda: ports.invokeLambda,
      timers: ports.timers ?? realTimers,
      random: ports.random ?? Math.random,
      newId,
      tokens: new TaskTokens(newId),
    };
  }

  /** Creating the same again answers with the existing one. */
  createStateMachine(request: RequestOf<"CreateStateMachine">): { stateMachineArn: string; creationDate: Date } {
    const { name, definition: text } = request;
    checkName(name);
    if (request.type === "EXPRESS") {
      throw new ServiceError(
        "StateMachineTypeNotSupported",
        "expected type STANDARD, found EXPRESS: callbacks and long waits need a Standard workflow",
      );
    }
    const definition = readDefinition(text);
    const known = this.#machines.get(stateMachineArn(name));
    if (known !== undefined && known.text !== text) {
      throw new ServiceError(
        "StateMachineAlreadyExists",
        `State Machine Already Exists: '${known.arn}' has another definition; choose another name`,
      );
    }
    const createdAt = new Date(this.#ports.timers.now());
    const roleArn = request.roleArn ?? LOCAL_ROLE_ARN;
    const machine = known ?? { arn: stateMachineArn(name), name, text, definition, roleArn, createdAt };
    this.#machines.set(machine.arn, machine);
    return { stateMachineArn: machine.arn, creationDate: machine.createdAt };
  }

  /**
   * Makes a version of a machine, as it was published once: executions are started on it by its qualified ARN, and are the machine's own,
   * which is as the last version is. The real service numbers versions itself; here whoever kept them does. @returns the version's ARN.
   */
  publishVersion({ name, version, definition: text }: PublishedVersion): string {
    checkName(name);
    const arn = `${stateMachineArn(name)}:${version}`;
    const createdAt = new Date(this.#ports.timers.now());
    const machine = { name, text, definition: readDefinition(text), roleArn: LOCAL_ROLE_ARN, createdAt };
    this.#machines.set(arn, { ...machine, arn });
    this.#machines.set(stateMachineArn(name), { ...machine, arn: stateMachineArn(name) });
    return arn;
  }

  describeStateMachine(request: RequestOf<"DescribeStateMachine">): DescribeStateMachineOutput {
    const { arn, name, text, roleArn, createdAt } = this.#machine(request.stateMachineArn);
    return {
      stateMachineArn: arn,
      name,
      status: "ACTIVE",
      definition: text,
      roleArn,
      type: "STANDARD",
      creationDate: createdAt,
    };
  }

  listStateMachines(request: RequestOf<"ListStateMachines">): ListStateMachinesOutput {
    const unqualified = [...this.#machines.values()].filter(({ arn, name }) => arn === stateMachineArn(name));
    const { items, ...rest } = pageOf(unqualified, request.maxResults, request.nextToken);
    const stateMachines = items.map(({ arn, name, createdAt }) => ({
      stateMachineArn: arn,
      name,
      type: "STANDARD" as const,
      creationDate: createdAt,
    }));
    return { stateMachines, ...rest };
  }

  /** Idempotent while an execution of that name and input is open.
   *  @throws ServiceError `ExecutionAlreadyExists` for a name that was used with another input, or whose execution has ended. */
  startExecution(request: RequestOf<"StartExecution">): { executionArn: string; startDate: Date } {
    const machine = this.#machine(request.stateMachineArn);
    const name = request.name ?? this.#ports.newId();
    const input = request.input ?? "{}";
    checkName(name);
    checkJsonText("input", input, "InvalidExecutionInput");
    const arn = executionArn(machine.name, name);
    const known = this.#executions.get(arn);
    const sameAndOpen = known?.open === true && known.request.input === input;
    if (known !== undefined && !sameAndOpen) {
      throw new ServiceError("ExecutionAlreadyExists", `Execution Already Exists: '${arn}'`);
    }
    const execution = known ?? new Execution({ arn, name, stateMachine: machine, input }, this.#ports);
    this.#executions.set(arn, execution);
    return { executionArn: arn, startDate: execution.startedAt };
  }

  describeExecution(request: RequestOf<"DescribeExecution">): DescribeExecutionOutput {
    return this.#execution(request.executionArn).describe();
  }

  /** Newest first; of a machine those of all its versions. */
  listExecutions(request: RequestOf<"ListExecutions">): ListExecutionsOutput {
    const { arn } = this.#machine(request.stateMachineArn);
    const summaries = [...this.#executions.values()].map((execution) => execution.summary()).reverse();
    const matching = summaries.filter(
      (one) =>
        (one.stateMachineArn === arn || one.stateMachineArn?.startsWith(`${arn}:`)) &&
        (request.statusFilter === undefined || one.status === request.statusFilter),
    );
    const { items, ...rest } = pageOf(matching, request.maxResults, request.nextToken);
    return { executions: [...items], ...rest };
  }

  getExecutionHistory(request: RequestOf<"GetExecutionHistory">): GetExecutionHistoryOutput {
    const { events } = this.#execution(request.executionArn);
    const ordered = request.reverseOrder === true ? [...events].reverse() : events;
    const { items, ...rest } = pageOf(ordered, request.maxResults, request.nextToken);
    return {
      events: items.map((event) => (request.includeExecutionData === false ? withoutData(event) : event)),
      ...rest,
    };
  }

  /** Harmless after the end. A Lambda that still runs is not killed; its answer is discarded. */
  stopExecution(request: RequestOf<"StopExecution">): { stopDate: Date } {
    const execution = this.#execution(request.executionArn);
    execution.stop(request.error, request.cause);
    return { stopDate: execution.stoppedAt ?? execution.startedAt };
  }

  sendTaskSuccess(request: RequestOf<"SendTaskSuccess">): void {
    checkJsonText("output", request.output, "InvalidOutput");
    this.#ports.tokens.answer(request.taskToken, { kind: "success", output: request.output });
  }

  sendTaskFailure(request: RequestOf<"SendTaskFailure">): void {
    this.#ports.tokens.answer(request.taskToken, { kind: "failure", error: request.error, cause: request.cause });
  }

  sendTaskHeartbeat(request: RequestOf<"SendTaskHeartbeat">): void {
    this.#ports.tokens.heartbeat(request.taskToken);
  }

  /** Resolves when the execution ends. Not part of the real API: for callers in the same process. */
  finished(arn: string): Promise<ExecutionEnd> {
    return this.#execution(arn).finished;
  }

  /** States entered plus retries, which is what the real service bills. Not part of the real API. */
  stateTransitions(arn: string): number {
    return this.#execution(arn).stateTransitions;
  }

  /** Drops every timer and wait, as if the process had died. */
  close(): void {
    for (const execution of this.#executions.values()) execution.abandon();
  }

  #machine(arn: string): StateMachine {
    checkArn("stateMachine", arn);
    const machine = this.#machines.get(arn);
    if (machine === undefined)
      throw new ServiceError("StateMachineDoesNotExist", `State Machine Does Not Exist: '${arn}'`);
    return machine;
  }

  #execution(arn: string): Execution {
    checkArn("execution", arn);
    const execution = this.#executions.get(arn);
    if (execution === undefined) throw new ServiceError("ExecutionDoesNotExist", `Execution Does Not Exist: '${arn}'`);
    return execution;
  }
}

/** A drill makes the same machine for each of its hundreds of worlds. */
let lastRead: { readonly text: string; readonly definition: Definition } | undefined;

function readDefinition(text: string): Definition {
  if (lastRead?.text === text) return lastRead.definition;
  try {
    const definition = parseDefinition(text);
    lastRead = { text, definition };
    return definition;
  } catch (thrown) {
    if (thrown instanceof DefinitionError)
      throw new ServiceError("InvalidDefinition", `Invalid State Machine Definition: ${thrown.message}`);
    throw thrown;
  }
}

function checkJsonText(field: string, text: string, code: ServiceErrorCode): void {
  const bytes = textBytes(text);
  if (bytes > PAYLOAD_BYTES_MAX) {
    throw new ServiceError(
      "ValidationException",
      `${field}: expected at most ${PAYLOAD_BYTES_MAX} bytes, found ${bytes}`,
    );
  }
  try {
    JSON.parse(text);
  } catch (thrown) {
    throw new ServiceError(code, `${field}: expected JSON text, found: ${String(thrown)}`);
  }
}

const DATA_FIELDS: readonly string[] = ["input", "inputDetails", "output", "outputDetails", "parameters"];

function withoutData(event: HistoryEvent): HistoryEvent {
  const entries = Object.entries(event).map(([key, value]: [string, unknown]) => {
    const isDetails = key.endsWith("EventDetails") && typeof value === "object" && value !== null;
    if (!isDetails) return [key, value];
    return [key, Object.fromEntries(Object.entries(value).filter(([field]) => !DATA_FIELDS.includes(field)))];
  });
  // Only optional members were left out, so the shape still holds.
  return Object.fromEntries(entries) as HistoryEvent;
}
