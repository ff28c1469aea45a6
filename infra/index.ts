/** Surefoot as CDK constructs: `AgentStack` is the whole of it, `DurableAgent` one agent inside a stack of your own. */
export { AgentAlarms, type AgentAlarmsProps } from "./agent-alarms.ts";
export { AgentApi, type AgentApiProps } from "./agent-api.ts";
export { AgentStack, type AgentStackProps, type DeployedAgent } from "./agent-stack.ts";
export { AgentStore, type AgentStoreProps, type StoreAccess } from "./agent-store.ts";
export type { ApiAuth, JwtAuth } from "./api-auth.ts";
export { ApprovalNotices, type ApprovalNoticesProps, type NoticeOptions } from "./approval-notices.ts";
export { DeliveryQueue, type DeliveryQueueProps } from "./delivery-queue.ts";
export { DurableAgent, type DurableAgentProps } from "./durable-agent.ts";
export { PlatformFunction, type PlatformFunctionProps } from "./platform-function.ts";
export { ReleaseRegistry, type ReleaseRegistryProps } from "./release-registry.ts";
export { storeAccess } from "./store-access.ts";
export { sweepEvery, SweepSchedule, type SweepScheduleProps } from "./sweep-schedule.ts";
