import { z } from "zod";

/** An agent as this deployment runs it. */
export const DeployedRelease = z.object({
  Name: z.string(),
  // CloudFormation hands every value over as text.
  WorkflowVersion: z.coerce.number().int().positive(),
  ContractDigest: z.string(),
  StateMachineArn: z.string(),
});
export type DeployedRelease = z.infer<typeof DeployedRelease>;

/** What the stack says of a deployment. Whatever makes another release is in it, so that the resource changes with it. */
export const ReleaseProperties = z.object({
  Agents: z.array(DeployedRelease),
  /** Agents whose open runs somebody gives up. */
  AbandonRuns: z.array(z.string()).default([]),
});
export type ReleaseProperties = z.infer<typeof ReleaseProperties>;

const common = {
  /** Where the answer goes: a secret, since whoever has it answers. */
  ResponseURL: z.url(),
  StackId: z.string(),
  RequestId: z.string(),
  LogicalResourceId: z.string(),
};

/** What the answer has to repeat. */
export const AnswerTo = z.object(common);
export type AnswerTo = z.infer<typeof AnswerTo>;

/** What CloudFormation asks a custom resource. */
export const ReleaseRequest = z.discriminatedUnion("RequestType", [
  z.object({ RequestType: z.literal("Create"), ResourceProperties: ReleaseProperties }),
  z.object({
    RequestType: z.literal("Update"),
    ResourceProperties: ReleaseProperties,
    OldResourceProperties: ReleaseProperties,
  }),
  z.object({
    RequestType: z.literal("Delete"),
    ResourceProperties: ReleaseProperties,
    PhysicalResourceId: z.string(),
  }),
]);
export type ReleaseRequest = z.infer<typeof ReleaseRequest>;
