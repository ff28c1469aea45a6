/** Testing agents: `import { testAgent, double, at } from "surefoot/testing"`. See README.md beside this file. */
export { defineDrill, type DrillScript } from "../drill/drill-script.ts";
export { double, type Made, type ToolDouble } from "../in-process/double.ts";
export { httpError } from "../in-process/fault-errors.ts";
export type { FaultKind, FaultRule, InjectedFault } from "../in-process/injected-fault.ts";
export type { Effect, ToolRequest } from "../in-process/journal.ts";
export type { AdmittedCall, CallPattern, PortName } from "../in-process/port-call.ts";
export type { TraceEntry } from "../in-process/trace.ts";
export { at, type Where } from "./at.ts";
export { TestSetupError } from "./check-options.ts";
export type { ModelAsked, ModelScript } from "./scripted-models.ts";
export { testAgent } from "./test-agent.ts";
export type { Seen, TestAgentOptions, ToolScript } from "./test-options.ts";
export { type Decision, type EndedRun, TestRun, type Word } from "./test-run.ts";
export { type StartOptions, TestWorld } from "./test-world.ts";
