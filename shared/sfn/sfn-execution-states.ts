import { DescribeExecutionCommand, ExecutionDoesNotExist, type SFNClient } from "@aws-sdk/client-sfn";
import type { ExecutionStates } from "../sweep/sweep-ports.ts";

export function sfnExecutionStates(client: SFNClient): ExecutionStates {
  return {
    async isRunning(stateMachineArn, execution) {
      try {
        const executionArn = executionArnOf(stateMachineArn, execution);
        const described = await client.send(new DescribeExecutionCommand({ executionArn }));
        return described.status === "RUNNING" || described.status === "PENDING_REDRIVE";
      } catch (error) {
        if (error instanceof ExecutionDoesNotExist) return false;
        throw error;
      }
    },
  };
}

/** `…:stateMachine:NAME[:ALIAS or VERSION]` → `…:execution:NAME:EXECUTION`. */
export function executionArnOf(stateMachineArn: string, execution: string): string {
  const parts = stateMachineArn.split(":");
  return [...parts.slice(0, 5), "execution", parts[6], execution].join(":");
}
