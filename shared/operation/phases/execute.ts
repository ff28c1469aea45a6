import { commitMarginMs } from "../../compile/node-time.ts";
import { classifyError } from "../../faults/classify.ts";
import { Fault } from "../../faults/fault.ts";
import { boundedCall } from "../bounded-call.ts";
import { keyUntilMs } from "../decide-recovery.ts";
import {
  type AttemptOutcome,
  type Claim,
  dimensionsOf,
  type OperationCall,
  type OperationPorts,
} from "../operation-call.ts";

/** Phase 2: calls the tool once. Never throws: whatever comes back is an outcome, and an unfamiliar one is a doubt. */
export async function execute(
  call: OperationCall,
  { entry, request }: Claim,
  ports: OperationPorts,
): Promise<AttemptOutcome> {
  const { tool } = call.node;
  const nowMs = ports.clock.nowMs();
  const lastSendMs = call.killedAtMs - commitMarginMs;
  const keyForgotten = entry.may_have_applied && nowMs >= keyUntilMs(entry, tool.downstream);
  // Read right before the call: a process that was paused must not send after somebody else has looked, nor a key that became a new request.
  if (nowMs >= lastSendMs || keyForgotten) {
    ports.metrics.add("side_effect_duplicate_prevented_total", dimensionsOf(call));
    const late = new Fault(
      "deadline_passed",
      "retryable",
      `${tool.name} was not called: ${keyForgotten ? "its key's window has passed" : "the invocation's time was nearly up"}`,
    );
    return { kind: "failed", fault: late };
  }

  const end = await boundedCall(ports.clock, Math.min(nowMs + tool.timeoutMs, lastSendMs), (signal) =>
    tool.execute(request as never, { idempotencyKey: entry.operation_id, signal }),
  );
  switch (end.kind) {
    case "returned":
      return { kind: "succeeded", result: end.value };
    case "timed_out": {
      const fault = new Fault(
        "tool_timeout",
        "unknown",
        `${tool.name} gave no answer in ${tool.timeoutMs} ms: it may have happened`,
      );
      return { kind: "in_doubt", fault, unsettled: end.unsettled };
    }
    case "threw":
      return judged(call, end.error, ports);
    default:
      return end satisfies never;
  }
}

function judged(call: OperationCall, error: unknown, ports: OperationPorts): AttemptOutcome {
  const { tool } = call.node;
  const classified = classifyError(error);
  const failureClass = tool.classify?.(error) ?? classified.failureClass;
  const message = error instanceof Error ? error.message : String(error);
  const fault = new Fault(classified.code, failureClass, `${tool.name} failed: ${message}`, {
    facts: { tool: tool.name, ...(classified.httpStatus !== undefined && { http_status: classified.httpStatus }) },
    ...(classified.retryAfterMs !== undefined && { notBeforeMs: ports.clock.nowMs() + classified.retryAfterMs }),
    cause: error,
  });
  return failureClass === "unknown" ? { kind: "in_doubt", fault, unsettled: false } : { kind: "failed", fault };
}
