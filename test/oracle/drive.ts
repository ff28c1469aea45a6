import { createHash } from "node:crypto";
import {
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  type DescribeExecutionOutput,
  GetExecutionHistoryCommand,
  type HistoryEvent,
  SFNClient,
  StartExecutionCommand,
} from "@aws-sdk/client-sfn";

/** An execution that takes longer has lost its way. */
const patienceMs = 60_000;
const pollMs = 40;

export interface Ended {
  readonly end: DescribeExecutionOutput;
  readonly history: readonly HistoryEvent[];
}

export const sfnClient = (endpoint: string): SFNClient =>
  new SFNClient({ endpoint, region: "us-east-1", credentials: { accessKeyId: "local", secretAccessKey: "local" } });

/** Stands a function in for every placeholder of a compiled definition, named after it. */
export const deployable = (definition: object): string =>
  JSON.stringify(definition).replaceAll(/\$\{(\w+)Arn\}/g, "arn:aws:lambda:us-east-1:000000000000:function:$1");

/** The same definition has the same name wherever it is created. */
export const machineName = (definition: string): string =>
  `m-${createHash("sha256").update(definition).digest("hex").slice(0, 16)}`;

export const executionArn = (machine: string, execution: string): string =>
  `arn:aws:states:us-east-1:000000000000:execution:${machine}:${execution}`;

export async function createStateMachine(sfn: SFNClient, name: string, definition: string): Promise<string> {
  const roleArn = "arn:aws:iam::000000000000:role/oracle";
  const { stateMachineArn } = await sfn.send(new CreateStateMachineCommand({ name, definition, roleArn }));
  return stateMachineArn ?? "";
}

export async function startExecution(
  sfn: SFNClient,
  machineArn: string,
  name: string,
  input: unknown,
): Promise<string> {
  const request = { stateMachineArn: machineArn, name, input: JSON.stringify(input) };
  return (await sfn.send(new StartExecutionCommand(request))).executionArn ?? "";
}

/** Waits for the end of an execution, which no interpreter announces. @throws Error with its history when it takes too long. */
export async function untilEnded(sfn: SFNClient, arn: string, waitMs = patienceMs): Promise<Ended> {
  const giveUpAt = Date.now() + waitMs;
  for (;;) {
    const end = await sfn.send(new DescribeExecutionCommand({ executionArn: arn }));
    if (end.status !== "RUNNING") return { end, history: await historyOf(sfn, arn) };
    if (Date.now() > giveUpAt) {
      const events = (await historyOf(sfn, arn)).map(({ id, type }) => `${id} ${type}`);
      throw new Error(`${arn} still runs after ${waitMs} ms:\n${events.join("\n")}`);
    }
    await new Promise((next) => setTimeout(next, pollMs));
  }
}

async function historyOf(sfn: SFNClient, arn: string): Promise<readonly HistoryEvent[]> {
  const request = { executionArn: arn, maxResults: 1000 };
  return (await sfn.send(new GetExecutionHistoryCommand(request))).events ?? [];
}
