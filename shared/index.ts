/** The public surface: what an agent's author writes with, and what the Lambdas and the stack are built from. */
export type { Agent } from "./agent/agent.ts";
export { defineAgent } from "./agent/define-agent.ts";
export { days, type DurationMs, hours, milliseconds, minutes, seconds } from "./agent/duration.ts";
export { definePrompt, type Prompt } from "./agent/prompt.ts";
export {
  byKey,
  byQuery,
  type CallContext,
  type Downstream,
  none,
  readTool,
  type ReadTool,
  type WriteCallContext,
  writeTool,
  type WriteTool,
} from "./agent/tool.ts";
export { type ApprovalOutcome, type Decision, Rejection } from "./approval/approval.ts";
export { ApprovalField, ApprovalView, viewBytesMax } from "./approval/approval-view.ts";
export { databaseChangeView, emailView, plainView, pullRequestView, type ViewWords } from "./approval/view-presets.ts";
export { compileAgent, type CompiledAgent } from "./compile/compile-agent.ts";
export { type CompileSettings, compileSettingsDefault } from "./compile/compile-settings.ts";
export { compareAt, type PlaceComparison } from "./contract/compare-at.ts";
export { compareContracts, type ContractComparison } from "./contract/compare-contracts.ts";
export { type Foothold, footholdOf } from "./contract/foothold.ts";
export { checkpointSchemaVersion, contractDigest, type Manifest, manifestOf } from "./contract/manifest.ts";
export type { Migration } from "./contract/migration.ts";
export { ContractVerdict } from "./contract/verdict.ts";
export { FailureClass } from "./faults/failure-class.ts";
export { Fault, FaultRecord } from "./faults/fault.ts";
export {
  AgentDefinitionError,
  BadRequest,
  OperationConflict,
  OperationUnknown,
  ReplayContractError,
} from "./faults/faults.ts";
export { LedgerEntry, OperationStatus } from "./ledger/ledger-entry.ts";
export { ledgerTable } from "./ledger/ledger-table.ts";
export { transitions } from "./ledger/ledger-transitions.ts";
export { metricMeanings, type MetricName } from "./metrics/metrics.ts";
export { OperationId, operationId } from "./operation/operation-id.ts";
export { canonicalJson } from "./operation/canonical-json.ts";
export { requestHash } from "./operation/request-hash.ts";
export { RunStatus } from "./runlog/run-record.ts";
export { runsTable } from "./runlog/runs-table.ts";
export type { TableSchema } from "./tables/table-schema.ts";
