import { InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import { z } from "zod";
import { Fault } from "../faults/fault.ts";
import type { Clock } from "../ports/clock.ts";
import type { PinnedFunctions } from "../sweep/sweep-ports.ts";

const Failure = z.object({ errorType: z.string().optional(), errorMessage: z.string().optional() });

/**
 * How long the sweep waits for one operation, below the time that it keeps back. A function that takes longer goes on by itself, and the
 * next sweep finds what it wrote: one slow tool does not starve everything behind it.
 */
const reconcileWaitMs = 20_000;

/** The run's own function version, invoked and waited for. */
export function lambdaPinnedFunctions(client: LambdaClient, clock: Clock): PinnedFunctions {
  const invoke = async (
    functionArn: string,
    action: "reconcile" | "deliver",
    operationId: string,
    signal?: AbortSignal,
  ): Promise<void> => {
    const answer = await client.send(
      new InvokeCommand({
        FunctionName: functionArn,
        Payload: Buffer.from(JSON.stringify({ action, operation_id: operationId })),
      }),
      signal && { abortSignal: signal },
    );
    if (answer.FunctionError === undefined) return;
    const failure = Failure.safeParse(JSON.parse(Buffer.from(answer.Payload ?? []).toString("utf8") || "{}")).data;
    throw new Fault(
      "pinned_function_failed",
      "unknown",
      `${action} of operation ${operationId} by ${functionArn} ended with ${failure?.errorType ?? answer.FunctionError}: ${failure?.errorMessage ?? "no message"}`,
      { facts: { operation_id: operationId, error_type: failure?.errorType ?? "unknown" } },
    );
  };
  return {
    async reconcile(functionArn, operationId) {
      const waited = new AbortController();
      const cancel = clock.after(reconcileWaitMs, () => waited.abort());
      await invoke(functionArn, "reconcile", operationId, waited.signal)
        .catch((error: unknown) => {
          if (!waited.signal.aborted) throw error;
        })
        .finally(cancel);
    },
    deliver: (functionArn, operationId) => invoke(functionArn, "deliver", operationId),
  };
}
