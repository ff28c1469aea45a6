import {
  SFNClient,
  CreateStateMachineCommand,
  GetExecutionHistoryCommand,
  StartExecutionCommand,
} from "@aws-sdk/client-sfn";
import type { HistoryEvent } from "@aws-sdk/client-sfn";
import { afterEach } from "vitest";
import type { ExecutionEnd } from "../../../../infra/local/step-functions/execution.ts";
import { startStepFunctionsEndpoint } from "../../../../infra/local/step-functions/step-functions-endpoint.ts";
import { StepFunctionsService } from "../../../../infra/local/step-functions/step-functions-service.ts";
import { ManualTimers } from "./manual-timers.ts";
import { ScriptedLambda } from "./scripted-lambda.ts";

export interface Engine {
  readonly sfn: SFNClient;
  readonly service: StepFunctionsService;
  readonly timers: ManualTimers;
  readonly lambda: ScriptedLambda;
  readonly url: string;
  create(definition: object, name?: string): Promise<string>;
  /** Creates a state machine of that definition and starts one execution, both through the SDK. */
  start(definition: object, input?: unknown, name?: string): Promise<StartedExecution>;
}

export interface StartedExecution {
  readonly arn: string;
  readonly finished: Promise<ExecutionEnd>;
  history(): Promise<HistoryEvent[]>;
  /** `type` of every event, in order. */
  eventTypes(): Promise<string[]>;
}

const cleanUps: (() => Promise<void>)[] = [];

/** A fresh engine behind its HTTP endpoint, with the SDK's own client; closed after the test. */
export async function startEngine(options: { random?: () => number } = {}): Promise<Engine> {
  const timers = new ManualTimers();
  const lambda = new ScriptedLambda();
  let ids = 0;
  const service = new StepFunctionsService({
    invokeLambda: lambda.invoke,
    timers,
    newId: () => `id-${(ids += 1)}`,
    random: options.random ?? (() => 0.5),
  });
  const endpoint = await startStepFunctionsEndpoint(service);
  const sfn = new SFNClient({
    endpoint: endpoint.url,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    maxAttempts: 1,
  });
  cleanUps.push(async () => {
    sfn.destroy();
    service.close();
    await endpoint.close();
  });

  const create = async (definition: object, name = `machine-${(ids += 1)}`): Promise<string> => {
    const created = await sfn.send(
      new CreateStateMachineCommand({
        name,
        definition: JSON.stringify(definition),
        roleArn: "arn:aws:iam::000000000000:role/test",
      }),
    );
    return created.stateMachineArn ?? "";
  };
  const start = async (definition: object, input: unknown = {}, name?: string): Promise<StartedExecution> => {
    const stateMachineArn = await create(definition);
    const started = await sfn.send(new StartExecutionCommand({ stateMachineArn, input: JSON.stringify(input), name }));
    const arn = started.executionArn ?? "";
    const history = async (): Promise<HistoryEvent[]> =>
      (await sfn.send(new GetExecutionHistoryCommand({ executionArn: arn, maxResults: 1000 }))).events ?? [];
    return {
      arn,
      finished: service.finished(arn),
      history,
      eventTypes: async () => (await history()).map((event) => event.type ?? ""),
    };
  };
  return { sfn, service, timers, lambda, url: endpoint.url, create, start };
}

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});
