import type { Agent } from "../../shared/agent/agent.ts";
import { isFault } from "../../shared/faults/fault.ts";
import type { Logger } from "../../shared/ports/logger.ts";
import { SettingsError } from "../env.ts";
import type { Invocation } from "../step/step-handler.ts";
import { type AbandonPorts, abandonRuns } from "./abandon-runs.ts";
import { answerCloudFormation } from "./answer-cloudformation.ts";
import { keepReleases, type KeepPorts } from "./keep-releases.ts";
import { lossesOf, namesGivenUp } from "./refuse-losses.ts";
import { AnswerTo, ReleaseRequest } from "./release-request.ts";

export type ReleasePorts = KeepPorts &
  AbandonPorts & {
    readonly logger: Logger;
  };

/** The resource is the stack's one registry: were its id to change, CloudFormation would delete what it takes for the old one. */
const physicalResourceId = "surefoot-releases";
/** What was never created is deleted when its creation is rolled back. Nothing was registered by it, so nothing is refused. */
const notCreated = "surefoot-releases-not-created";

/** Kept back for the answer: without one the deployment stands still until its timeout. */
const reserveMs = 25_000;

/**
 * A custom resource of the stack: keeps what each deployment runs, and fails a deployment that would lose open runs, before CloudFormation
 * removes anything. It always answers. Safe to be asked again.
 */
export const createReleaseHandler =
  (agents: readonly Agent[], wirePorts: () => ReleasePorts) =>
  async (event: unknown, invocation: Invocation): Promise<void> => {
    const to = AnswerTo.parse(event);
    const request = ReleaseRequest.safeParse(event);
    const refused = request.success
      ? await within(invocation.getRemainingTimeInMillis() - reserveMs, () =>
          register(request.data, to.StackId, agents, wirePorts),
        )
      : `expected a request of the stack's own resource, found another: ${request.error.issues[0]?.message ?? ""}`;
    const failedCreate = refused !== undefined && request.data?.RequestType === "Create";
    await answerCloudFormation(to, {
      refused,
      physicalResourceId: failedCreate ? notCreated : idOf(request.data),
    });
  };

const idOf = (request: ReleaseRequest | undefined): string =>
  request?.RequestType === "Delete" ? request.PhysicalResourceId : physicalResourceId;

/** @returns why it is refused, or failed; undefined where all is well. */
async function register(
  request: ReleaseRequest,
  stackId: string,
  agents: readonly Agent[],
  wirePorts: () => ReleasePorts,
): Promise<string | undefined> {
  if (request.RequestType === "Delete" && request.PhysicalResourceId === notCreated) return undefined;
  let ports: ReleasePorts | undefined;
  try {
    ports = wirePorts();
    const losses = await lossesOf(request, stackId, ports.log);
    if (losses !== undefined) {
      ports.logger.warn("deployment refused", { request: request.RequestType });
      return losses;
    }
    // A stack that is deleted takes the sweep along: nobody would try to go on with what is left.
    if (request.RequestType === "Delete") return undefined;
    await keepReleases(request.ResourceProperties.Agents, agents, ports);
    const abandoned = await abandonRuns(namesGivenUp(request), ports);
    if (abandoned > 0) ports.logger.warn("runs abandoned", { runs: abandoned });
    return undefined;
  } catch (error) {
    const code = isFault(error) ? error.code : error instanceof Error ? error.name : typeof error;
    ports?.logger.error("releases not kept", { code, request: request.RequestType });
    // Only our own words: those of others may quote what they were sent.
    if (isFault(error) || error instanceof SettingsError) return error.message;
    return `${code}: look at the log of the stack's Release function, then deploy again`;
  }
}

async function within(ms: number, work: () => Promise<string | undefined>): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`not done within ${Math.round(ms / 1_000)} s: deploy again`), Math.max(ms, 0));
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
