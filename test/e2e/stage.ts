import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ApiClient, apiClient } from "../../infra/cli/api-client.ts";
import { type Approval, Approvals, Run, Started } from "../../infra/cli/api-shapes.ts";
import type { ControlClient } from "../../infra/local/downstreams/control-client.ts";
import { MailEffects } from "../../infra/local/downstreams/mail-server.ts";
import { ModelRequests } from "../../infra/local/downstreams/model-server.ts";
import { PaymentsEffects } from "../../infra/local/downstreams/payments-server.ts";
import { type LocalRunner, type LocalRunnerOptions, startLocalRunner } from "../../infra/local/local-runner.ts";
import { type RefundWorld, startRefundWorld } from "../../infra/local/refund-world.ts";
import { type DynamoProxy, type DynamoRequest, startDynamoProxy } from "../builders/dynamo-proxy.ts";

/** A quick agent's longest node and its bookkeeping fit. A dead attempt's lease lapses at most one second later. */
const stepTimeoutSeconds = 15;
/** A lease, the pauses between looks at it, and the work, on a machine that is busy with other suites. */
const patienceMs = 240_000;
/** For whole tests and hooks here: patience, and bundling and cold starts on top. */
export const slowMs = patienceMs + 60_000;
const pollMs = 100;

/** Everything real: functions in their processes, DynamoDB behind a proxy, a payments, a mail and a model server. */
export interface Stage {
  readonly folder: string;
  readonly runner: LocalRunner;
  readonly world: RefundWorld;
  readonly proxy: DynamoProxy;
  readonly api: ApiClient;
  start(agent: string, workflowId: string, input: unknown): Promise<string>;
  run(runId: string): Promise<Run>;
  /** The run once it has one of these statuses. */
  until(runId: string, statuses: readonly string[]): Promise<Run>;
  /** The run once it goes no further by itself. */
  ended(runId: string): Promise<Run>;
  /** The open approval of a run, once it waits for one; another one than `before`. */
  asked(runId: string, before?: Approval): Promise<Approval>;
  approve(approval: Approval, by?: string): Promise<void>;
  /** A person's word on an operation. */
  resolve(operationId: string, outcome: "succeeded" | "failed" | "retry", externalRef?: string): Promise<void>;
  stop(): Promise<void>;
}

export interface StageOptions {
  /** File names under `agents/`. */
  readonly agents: readonly string[];
  /** What the agents find in their environment beside the refund world. */
  readonly environment?: Readonly<Record<string, string>>;
  /** What the runner is told beside that. */
  readonly runner?: Omit<Partial<LocalRunnerOptions>, "folder" | "agents" | "dynamoEndpointFor">;
}

export const agentModule = (name: string): string => fileURLToPath(new URL(`./agents/${name}.ts`, import.meta.url));

export async function startStage({ agents, environment = {}, runner: over }: StageOptions): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "surefoot-e2e-"));
  const stops: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    const world = await startRefundWorld();
    stops.push(() => world.stop());
    let proxy: DynamoProxy | undefined;
    stops.push(() => proxy?.stop());
    const runner = await startLocalRunner({
      folder,
      agents: agents.map((name) => ({
        modulePath: agentModule(name),
        environment: { ...world.environment, ...environment },
      })),
      settings: { stepTimeoutSeconds },
      ...over,
      dynamoEndpointFor: async (target) => (proxy = await startDynamoProxy({ target })).endpoint,
    });
    stops.push(() => runner.stop());
    if (!proxy) throw new Error("the runner did not ask for a proxy");
    const { requests } = proxy;
    const statusOf = async (runId: string) =>
      requests.findLast((request) => setsStatus(request, runId))?.values[":status"];
    return { folder, runner, world, proxy, ...actionsOf(apiClient(runner.url), statusOf), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const setsStatus = ({ operation, item, values }: DynamoRequest, runId: string): boolean =>
  operation === "UpdateItem" && item["item"] === "RUN" && item["run_id"] === runId && ":status" in values;

/**
 * What a user does over HTTP.
 * @param hintOf a cheap guess at a run's status: the API, whose every answer costs a Lambda invocation, is asked once it fits.
 */
export function actionsOf(api: ApiClient, hintOf?: (runId: string) => Promise<unknown>) {
  const run = async (runId: string) => Run.parse(await api.get(`/runs/${encodeURIComponent(runId)}`));
  const until = async (runId: string, statuses: readonly string[]) => {
    if (hintOf)
      await eventually(
        () => hintOf(runId),
        (status) => statuses.includes(String(status)),
        () => run(runId),
      );
    return eventually(
      () => run(runId),
      ({ status }) => statuses.includes(status),
    );
  };
  return {
    api,
    async start(agent: string, workflowId: string, input: unknown) {
      return Started.parse((await api.post("/runs", { agent, workflow_id: workflowId, input })).body).run_id;
    },
    run,
    until,
    ended: (runId: string) => until(runId, ["SUCCEEDED", "FAILED", "PARKED"]),
    async asked(runId: string, before?: Approval): Promise<Approval> {
      await until(runId, ["WAITING"]);
      const open = async () => {
        const { approvals } = Approvals.parse(await api.get("/approvals"));
        return approvals.find(
          ({ run_id, status, approval_id }) =>
            run_id === runId && status === "pending" && approval_id !== before?.approval_id,
        );
      };
      const found = await eventually(open, (approval) => approval !== undefined);
      if (!found) throw new Error(`run ${runId} waits, but no approval of it is listed`);
      return found;
    },
    async approve({ approval_id, payload_digest }: Approval, by = "a reviewer") {
      await api.post(`/approvals/${encodeURIComponent(approval_id)}`, { decision: "approve", by, payload_digest });
    },
    async resolve(operationId: string, outcome: "succeeded" | "failed" | "retry", externalRef?: string) {
      const body = { outcome, by: "an operator", evidence: "seen on the other side", external_ref: externalRef };
      await api.post(`/operations/${operationId}/resolution`, body);
    },
  };
}

/** Looks again and again until `done`. @throws Error with what `explain` says, when that never comes. */
export async function eventually<T>(
  look: () => Promise<T>,
  done: (seen: T) => boolean,
  explain: () => Promise<unknown> = look,
): Promise<T> {
  const giveUpAt = Date.now() + patienceMs;
  for (;;) {
    const seen = await look();
    if (done(seen)) return seen;
    if (Date.now() > giveUpAt) {
      throw new Error(`still not so after ${patienceMs} ms: ${JSON.stringify(await explain())}`);
    }
    await new Promise((next) => setTimeout(next, pollMs));
  }
}

/** The operation of a run that has one. */
export function operationOf({ run_id, operations }: Run): Run["operations"][number] {
  const [operation] = operations;
  if (!operation) throw new Error(`run ${run_id} has no operation`);
  return operation;
}

export const paymentsEffects = async (world: Pick<RefundWorld, "payments">) =>
  PaymentsEffects.parse(await world.payments.control.get("effects"));
export const mailEffects = async (world: Pick<RefundWorld, "mail">) =>
  MailEffects.parse(await world.mail.control.get("effects"));
export const modelRequests = async (world: Pick<RefundWorld, "model">) =>
  ModelRequests.parse(await world.model.control.get("requests"));

/** The process that sent it, as quick agents' processes say. Powertools puts its own name after it. */
export function senderPid({ sender }: DynamoRequest): number {
  const pid = Number(/^\d+/u.exec(sender ?? "")?.[0]);
  if (!Number.isInteger(pid)) throw new Error(`expected a process id in front of the SDK's app id, found ${sender}`);
  return pid;
}

/** A payment that leaves room for a second refund, so that one would be counted and not refused. */
export async function seedPayment(payments: ControlClient, name: string): Promise<void> {
  await payments.post("payments", { id: paymentOf(name), amount_cents: 50_000, order_id: `ORD-${name}` });
}

export const paymentOf = (name: string): string => `pi_${name.replaceAll(/\W/gu, "_")}`;

/** A ticket for a seeded payment. Above 5,000 cents a person is asked. */
export const ticketFor = (name: string, requestedAmountCents: number) => ({
  orderId: `ORD-${name}`,
  paymentId: paymentOf(name),
  requestedAmountCents,
  customerEmail: `${name.toLowerCase()}@example.com`,
  message: "It arrived broken.",
});
