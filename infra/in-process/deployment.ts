import type { Hono } from "hono";
import { createControlApp } from "../../lambdas/api/control-app.ts";
import { createDecideApp } from "../../lambdas/api/decide-app.ts";
import { createReadApp } from "../../lambdas/api/read-app.ts";
import { createReleasesApp } from "../../lambdas/api/releases-app.ts";
import { createRetireApp } from "../../lambdas/api/retire-app.ts";
import { createStartApp } from "../../lambdas/api/start-app.ts";
import { apiRoutes, type ApiFunction } from "../../lambdas/api-routes.ts";
import { createDeliverHandler } from "../../lambdas/deliver/deliver-handler.ts";
import { createSettleHandler } from "../../lambdas/settle/settle-handler.ts";
import { createStepHandler } from "../../lambdas/step/step-handler.ts";
import { createSweepHandler } from "../../lambdas/sweep/sweep-handler.ts";
import { createWaitHandler } from "../../lambdas/wait/wait-handler.ts";
import type { Agent } from "../../shared/agent/agent.ts";
import { compileAgent } from "../../shared/compile/compile-agent.ts";
import type { CompileSettings } from "../../shared/compile/compile-settings.ts";
import type { DeliveryQueueSettings } from "../../shared/sqs/delivery-queue-settings.ts";
import { matchRoute } from "../local/http-api/match-route.ts";
import { functionArn } from "../local/lambda/function-name.ts";
import { stateMachineArn } from "../local/step-functions/arn.ts";
import type { FunctionDefinition, Handler } from "./functions.ts";
import { type AgentGate, gatedAgent } from "./gated-agent.ts";
import type { Invocation } from "./invocation.ts";
import { type Platform, processPorts, type ProcessPorts as Ports } from "./process-ports.ts";

const region = "us-east-1";
/** As on AWS. */
const platformTimeoutMs = 45_000;
const apiTimeoutMs = 29_000;
const sweepTimeoutMs = 240_000;

export interface DeploymentOptions {
  readonly platform: Platform;
  readonly settings: CompileSettings;
  readonly delivery: DeliveryQueueSettings;
  readonly gate: AgentGate;
}

/** The functions and state machines of one world: what the stack deploys, without the cloud. */
export class Deployment {
  readonly #options: DeploymentOptions;
  /** The newest version of each agent. */
  readonly #agents = new Map<string, Agent>();
  readonly #stateMachines = new Map<string, string>();
  #deploys = 0;
  #settleMsMax = 0;

  constructor(options: DeploymentOptions) {
    this.#options = options;
    const { delivery } = options;
    this.#register("wait", platformTimeoutMs, (ports) => createWaitHandler(ports));
    this.#register("settle", platformTimeoutMs, (ports) => createSettleHandler(ports));
    this.#register("sweep", sweepTimeoutMs, (ports) => createSweepHandler(ports));
    this.#register("deliver", delivery.workerTimeoutSeconds * 1_000, (ports) =>
      createDeliverHandler(delivery.receivesMax, ports, ports.messagesInHand),
    );
    // Pages are for people; a drill decides over JSON.
    const apps: Readonly<Record<Exclude<ApiFunction, "review">, (ports: Ports) => Hono>> = {
      start: (ports) =>
        createStartApp(
          [...this.#agents.values()],
          { stateMachines: Object.fromEntries(this.#stateMachines), contracts: {} },
          ports,
        ),
      read: (ports) => {
        const names = [...this.#agents.keys()];
        return createReadApp(names, ports).route("/", createReleasesApp(names, ports));
      },
      decide: (ports) => createDecideApp(ports),
      control: (ports) => createControlApp(ports).route("/", createRetireApp(ports)),
    };
    for (const [name, app] of Object.entries(apps))
      this.#register(name, apiTimeoutMs, (ports) => answering(app(ports)));
  }

  /** The longest that a tool of these agents waits before *not found* counts. */
  get settleMsMax(): number {
    return this.#settleMsMax;
  }

  /** A function and a state machine of its own for each version: what runs stays on the one it began with. */
  deploy(agent: Agent): void {
    const { platform, settings, gate } = this.#options;
    const deploy = ++this.#deploys;
    const step = `step-${agent.name}`;
    const name = this.#agents.has(agent.name) ? `${step}-${deploy}` : step;
    this.#register(name, settings.stepTimeoutSeconds * 1_000, (ports, invocation) =>
      createStepHandler(gatedAgent(agent, invocation, gate), ports),
    );
    const machine = this.#agents.has(agent.name) ? `${agent.name}-${deploy}` : agent.name;
    const definition = statesOf(agent, settings)
      .replaceAll("${StepFunctionArn}", arnOf(name))
      .replaceAll("${WaitFunctionArn}", arnOf("wait"))
      .replaceAll("${SettleFunctionArn}", arnOf("settle"));
    platform.stepFunctions.createStateMachine({ name: machine, definition });
    this.#agents.set(agent.name, agent);
    this.#stateMachines.set(agent.name, stateMachineArn(machine));
    for (const node of agent.nodes) {
      if (node.kind !== "write" || node.tool.downstream.by === "none") continue;
      this.#settleMsMax = Math.max(this.#settleMsMax, node.tool.downstream.settleMs);
    }
  }

  /** Which function answers a request. @throws RangeError where no route does. */
  functionFor(method: string, path: string): string {
    const match = matchRoute(apiRoutes, method, decodeURIComponent(path.split("?")[0] ?? ""));
    if (match) return match.route.functionName;
    throw new RangeError(`the HTTP API has no ${method} ${path}`);
  }

  #register(name: string, timeoutMs: number, wire: (ports: Ports, invocation: Invocation) => Handler): void {
    const { platform } = this.#options;
    const definition: FunctionDefinition = {
      arn: arnOf(name),
      timeoutMs,
      start: (invocation) => wire(processPorts(invocation, platform), invocation),
    };
    platform.functions.register(name, definition);
  }
}

/** Compiling is pure, and a drill runs one agent hundreds of times. */
const compiled = new WeakMap<Agent, Map<string, string>>();

function statesOf(agent: Agent, settings: CompileSettings): string {
  const known = compiled.get(agent) ?? new Map<string, string>();
  compiled.set(agent, known);
  const key = JSON.stringify(settings);
  const text = known.get(key) ?? JSON.stringify(compileAgent(agent, settings).definition);
  known.set(key, text);
  return text;
}

const arnOf = (name: string): string => functionArn(region, { name });

/** An HTTP app as a function: the same app that answers on AWS. */
const answering =
  (app: Hono): Handler =>
  async (event) => {
    const { method, path, body } = event as { readonly method: string; readonly path: string; readonly body?: unknown };
    const json = { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const response = await app.request(path, { method, ...(body !== undefined && body !== null && json) });
    return { status: response.status, body: await response.json() };
  };
