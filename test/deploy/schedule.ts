import { GetPolicyCommand, InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import { z } from "zod";
import { account, type Emulator, region } from "./emulator.ts";
import { callService } from "./signed-request.ts";

const Rules = z.object({
  Rules: z.array(z.object({ Name: z.string(), Arn: z.string(), State: z.string(), ScheduleExpression: z.string() })),
});
export type Rule = z.infer<typeof Rules>["Rules"][number];

const Targets = z.object({ Targets: z.array(z.object({ Arn: z.string() })) });

const Policy = z.object({
  Statement: z.array(
    z.object({
      Effect: z.string(),
      Principal: z.object({ Service: z.string() }),
      Action: z.string(),
      Condition: z.unknown(),
    }),
  ),
});

/** Every rule of a stack, as the bus knows it. */
export async function rulesOf(emulator: Emulator, stackName: string): Promise<readonly Rule[]> {
  return Rules.parse(await callService(emulator, "events", "AWSEvents.ListRules", { NamePrefix: `${stackName}-` }))
    .Rules;
}

/** The functions that a rule calls. */
export async function targetsOf(emulator: Emulator, { Name }: Rule): Promise<readonly string[]> {
  return Targets.parse(
    await callService(emulator, "events", "AWSEvents.ListTargetsByRule", { Rule: Name }),
  ).Targets.map(({ Arn }) => Arn);
}

/** Who may call a function: `[service, action, the rule or whatever it is bound to]`. */
export async function callersOf(lambda: LambdaClient, functionArn: string) {
  const { Policy: policy } = await lambda.send(new GetPolicyCommand({ FunctionName: functionArn }));
  return Policy.parse(JSON.parse(policy ?? "")).Statement.map(
    ({ Effect, Principal, Action, Condition }) => [Effect, Principal.Service, Action, Condition] as const,
  );
}

/** Calls a rule's function with the event that the bus sends when its time has come. @returns what the function returned. */
export async function fire(lambda: LambdaClient, rule: Rule, functionArn: string): Promise<unknown> {
  const event = {
    version: "0",
    id: "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa",
    "detail-type": "Scheduled Event",
    source: "aws.events",
    account,
    time: "2026-01-01T00:00:00Z",
    region,
    resources: [rule.Arn],
    detail: {},
  };
  const { FunctionError, Payload } = await lambda.send(
    new InvokeCommand({ FunctionName: functionArn, Payload: JSON.stringify(event) }),
  );
  const returned = Payload?.transformToString() ?? "";
  if (FunctionError !== undefined) throw new Error(`the function failed (${FunctionError}): ${returned}`);
  return JSON.parse(returned);
}
