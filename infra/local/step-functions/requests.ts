import { z } from "zod";

/** What each operation takes. Members that the real service knows but that change nothing here are accepted by name;
 *  any other is refused, so that nobody relies on something that would only work in the cloud. */
const page = { maxResults: z.number().int().min(0).max(1000).optional(), nextToken: z.string().optional() };
const token = z.string().min(1).max(2048);
/** Documented lengths. */
const error = z.string().max(256).optional();
const cause = z.string().max(32_768).optional();

export const REQUESTS = {
  CreateStateMachine: z.strictObject({
    name: z.string(),
    definition: z.string().min(1),
    roleArn: z.string().optional(),
    type: z.enum(["STANDARD", "EXPRESS"]).optional(),
    loggingConfiguration: z.unknown().optional(),
    tracingConfiguration: z.unknown().optional(),
    tags: z.unknown().optional(),
  }),
  DescribeStateMachine: z.strictObject({ stateMachineArn: z.string(), includedData: z.unknown().optional() }),
  ListStateMachines: z.strictObject(page),
  StartExecution: z.strictObject({
    stateMachineArn: z.string(),
    name: z.string().optional(),
    input: z.string().optional(),
    traceHeader: z.unknown().optional(),
  }),
  DescribeExecution: z.strictObject({ executionArn: z.string(), includedData: z.unknown().optional() }),
  ListExecutions: z.strictObject({
    ...page,
    stateMachineArn: z.string(),
    statusFilter: z.enum(["RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"]).optional(),
  }),
  GetExecutionHistory: z.strictObject({
    ...page,
    executionArn: z.string(),
    reverseOrder: z.boolean().optional(),
    includeExecutionData: z.boolean().optional(),
  }),
  StopExecution: z.strictObject({ executionArn: z.string(), error, cause }),
  SendTaskSuccess: z.strictObject({ taskToken: token, output: z.string() }),
  SendTaskFailure: z.strictObject({ taskToken: token, error, cause }),
  SendTaskHeartbeat: z.strictObject({ taskToken: token }),
} as const;

export type OperationName = keyof typeof REQUESTS;
export type RequestOf<Name extends OperationName> = z.infer<(typeof REQUESTS)[Name]>;
