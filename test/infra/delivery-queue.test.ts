import { beforeAll, describe, expect, it } from "vitest";
import { agentStack, asText, ofType, refund, type Resource, resourcesOf, synthesisMsMax } from "./synthesized-stack.ts";

let resources: ReadonlyMap<string, Resource>;
beforeAll(() => {
  resources = resourcesOf(agentStack());
}, synthesisMsMax);

function at(path: string, among: ReadonlyMap<string, Resource> = resources): Resource {
  const found = [...among.values()].find((resource) => resource.path === path);
  if (!found) throw new Error(`no resource at ${path}`);
  return found;
}
const secondsOf = (among: ReadonlyMap<string, Resource>) => ({
  worker: at("Deliver/Function", among).Properties.Timeout,
  visibility: at("Deliveries/Queue", among).Properties.VisibilityTimeout,
});

describe("the delivery queue", () => {
  it("is FIFO, encrypted with the store's key, and keeps a message for four days", () => {
    expect(at("Deliveries/Queue").Properties).toMatchObject({
      FifoQueue: true,
      KmsMasterKeyId: { "Fn::GetAtt": [at("Store/Key").id, "Arn"] },
      MessageRetentionPeriod: 345_600,
    });
  });

  it("takes its deduplication ids from the sender: two operations with equal text are two", () => {
    expect(at("Deliveries/Queue").Properties).not.toHaveProperty("ContentBasedDeduplication");
  });

  it("moves what was received five times in vain to a FIFO queue like it, which keeps it for two weeks", () => {
    const deadLetters = at("Deliveries/DeadLetters");
    expect(at("Deliveries/Queue").Properties.RedrivePolicy).toEqual({
      deadLetterTargetArn: { "Fn::GetAtt": [deadLetters.id, "Arn"] },
      maxReceiveCount: 5,
    });
    expect(deadLetters.Properties).toEqual({
      FifoQueue: true,
      KmsMasterKeyId: { "Fn::GetAtt": [at("Store/Key").id, "Arn"] },
      MessageRetentionPeriod: 1_209_600,
    });
  });

  it("refuses requests without TLS, and so does the dead letter queue", () => {
    const refusals = ofType(resources, "AWS::SQS::QueuePolicy").map(({ Properties }) => ({
      queue: asText(Properties.Queues[0], resources),
      statements: Properties.PolicyDocument.Statement,
    }));
    const withoutTls = (queue: string) => ({
      Effect: "Deny",
      Action: "sqs:*",
      Principal: { AWS: "*" },
      Resource: { "Fn::GetAtt": [at(queue).id, "Arn"] },
      Condition: { Bool: { "aws:SecureTransport": "false" } },
    });
    expect(refusals.sort((a, b) => a.queue.localeCompare(b.queue))).toEqual([
      { queue: "Deliveries/DeadLetters", statements: [withoutTls("Deliveries/DeadLetters")] },
      { queue: "Deliveries/Queue", statements: [withoutTls("Deliveries/Queue")] },
    ]);
  });

  it("tells its worker which receive is the last, and where a message is handed back", () => {
    expect(at("Deliver/Function").Properties.Environment.Variables).toMatchObject({
      SUREFOOT_RECEIVES_MAX: "5",
      SUREFOOT_DELIVERY_QUEUE_URL: { Ref: at("Deliveries/Queue").id },
    });
  });

  it("hands its worker one message at a time, and takes back the one that failed", () => {
    const [mapping] = ofType(resources, "AWS::Lambda::EventSourceMapping");
    expect(mapping?.Properties).toEqual({
      BatchSize: 1,
      EventSourceArn: { "Fn::GetAtt": [at("Deliveries/Queue").id, "Arn"] },
      FunctionName: { Ref: at("Deliver/Function").id },
      FunctionResponseTypes: ["ReportBatchItemFailures"],
    });
  });
});

describe("the times of a delivery", () => {
  it("give the worker 15 s more than the step function it waits for, and the message six times the worker's", () => {
    expect(at("refund-agent/Step/Function").Properties.Timeout).toBe(120);
    expect(secondsOf(resources)).toEqual({ worker: 135, visibility: 810 });
  });

  it("follow the longest step function of the stack", () => {
    const settings = (stepTimeoutSeconds: number) => ({ stepTimeoutSeconds, resolutionWaitSeconds: 3_600 });
    const slow = { ...refund, agent: { ...refund.agent, name: "slow-agent" }, settings: settings(300) };
    const among = resourcesOf(agentStack({ agents: [{ ...refund, settings: settings(120) }, slow] }));
    expect(secondsOf(among)).toEqual({ worker: 315, visibility: 1_890 });
  });

  it("are refused where Lambda would end the worker before the step function", () => {
    const settings = (stepTimeoutSeconds: number) => ({ stepTimeoutSeconds, resolutionWaitSeconds: 3_600 });
    const stack = (seconds: number) => agentStack({ agents: [{ ...refund, settings: settings(seconds) }] });
    expect(() => stack(886)).toThrow(/stepTimeoutSeconds: expected at most 885, found 886.*shorten/u);
    expect(secondsOf(resourcesOf(stack(885)))).toEqual({ worker: 900, visibility: 5_400 });
  });
});
