import type { AnswerTo } from "./release-request.ts";

export interface ReleaseAnswer {
  /** Why the deployment fails; undefined where it goes on. */
  readonly refused: string | undefined;
  readonly physicalResourceId: string;
}

/** Characters of a reason: CloudFormation takes an answer of 4,096 bytes at most. */
const reasonCharsMax = 1_500;
/** An answer that never comes holds the deployment until its own timeout. */
const attemptsMax = 4;
const attemptMs = 5_000;

/** Tells CloudFormation how it went. @throws Error where nobody takes the answer, without its address. */
export async function answerCloudFormation(
  to: AnswerTo,
  { refused, physicalResourceId }: ReleaseAnswer,
): Promise<void> {
  // Bytes, not text: fetch would name their type, and the address is signed for an answer without one.
  const body = new TextEncoder().encode(
    JSON.stringify({
      Status: refused === undefined ? "SUCCESS" : "FAILED",
      ...(refused !== undefined && { Reason: refused.slice(0, reasonCharsMax) }),
      PhysicalResourceId: physicalResourceId,
      StackId: to.StackId,
      RequestId: to.RequestId,
      LogicalResourceId: to.LogicalResourceId,
    }),
  );
  let said = "";
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    said = await put(to.ResponseURL, body);
    if (said === "") return;
  }
  throw new Error(`CloudFormation did not take the answer, ${attemptsMax} times: ${said}`);
}

/** @returns nothing where it was taken, else what was answered. */
async function put(url: string, body: Uint8Array<ArrayBuffer>): Promise<string> {
  try {
    const { ok, status } = await fetch(url, { method: "PUT", body, signal: AbortSignal.timeout(attemptMs) });
    return ok ? "" : `status ${status}`;
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return cause instanceof Error ? cause.name : "no answer";
  }
}
