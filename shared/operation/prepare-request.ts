import { Fault } from "../faults/fault.ts";
import { packValue, type PackedValue } from "../payloads/claim-check.ts";
import type { PayloadStore } from "../payloads/payload-store.ts";
import type { State, WriteNode } from "../agent/node.ts";
import { deliveryOf } from "../agent/tool.ts";
import { userCode } from "../run/user-code.ts";
import { operationId } from "./operation-id.ts";
import type { OperationCall, PreparedRequest } from "./operation-call.ts";
import { requestHash } from "./request-hash.ts";

/** Characters of a business key: it is stored with the entry and read by people. */
const businessKeyCharsMax = 256;

/** Who asks: a write node at a position of a run. */
export type Asking = Pick<OperationCall, "run" | "node" | "position" | "state" | "functionArn">;

/**
 * The request a write node would send, and the operation it is. Deterministic: the same state gives the same operation.
 * @throws Fault `invalid_request` when the request does not fit the tool's input.
 */
export async function prepareRequest(
  { run, node, position, state, functionArn }: Asking,
  payloads: PayloadStore,
): Promise<PreparedRequest> {
  const { tool } = node;
  const parsed = tool.input.safeParse(userCode(node.name, "with", () => node.request(state)));
  if (!parsed.success) {
    const problems = parsed.error.issues
      .map((issue) => `${issue.path.join(".") || "request"}: ${issue.message}`)
      .join("; ");
    throw new Fault(
      "invalid_request",
      "final",
      `node ${node.name} made a request that ${tool.name} does not accept: ${problems}. Nothing was sent`,
      {
        facts: { node: node.name, tool: tool.name },
      },
    );
  }
  const request = parsed.data as Readonly<Record<string, unknown>>;
  const hash = requestHash(request, tool.semanticFields);
  const businessKey = businessKeyOf(node, state) ?? hash;
  const packed: PackedValue = await packValue(payloads, run.run_id, request);
  return {
    request,
    operation: {
      operation_id: operationId(tool.scope === "workflow" ? run.workflow_id : run.run_id, node.name, businessKey),
      run_id: run.run_id,
      workflow_id: run.workflow_id,
      agent: run.agent,
      action_name: tool.name,
      business_key: businessKey,
      position,
      request: packed,
      request_hash: hash,
      tool_version: tool.version,
      risk: tool.risk,
      capability: tool.downstream.by,
      delivery: deliveryOf(tool.downstream),
      ...(functionArn !== undefined && { function_arn: functionArn }),
    },
  };
}

function businessKeyOf(node: WriteNode, state: State): string | undefined {
  const key = userCode(node.name, "businessKey", () => node.businessKey?.(state));
  if (key === undefined) return undefined;
  if (typeof key !== "string" || key === "" || key.length > businessKeyCharsMax) {
    throw new Fault(
      "invalid_business_key",
      "final",
      `node ${node.name}: expected a business key of 1 to ${businessKeyCharsMax} characters. Nothing was sent`,
    );
  }
  return key;
}
