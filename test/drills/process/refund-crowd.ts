import { setTimeout as pause } from "node:timers/promises";
import { Approvals, Run, Runs, Started } from "../../../infra/cli/api-shapes.ts";
import type { RefundWorld } from "../../../infra/local/refund-world.ts";
import { seedPayment, ticketFor } from "../../e2e/stage.ts";
import { drilledAgent } from "./process-runner.ts";
import type { RunnerLives } from "./runner-lives.ts";
import { unlessDead } from "./unless-dead.ts";
import { until } from "./until.ts";

const lookEveryMs = 500;
/** The API lists no more; those under way are the newest. */
const listedMax = 200;

export interface Ticket {
  readonly name: string;
  /** Above 5,000 a person is asked. */
  readonly amountCents: number;
}

/** Callers with a ticket each, who take the next one when theirs goes no further, so that as many runs are under way all the time. */
export class RefundCrowd {
  /** In the order in which they were begun. */
  readonly tickets: Ticket[] = [];
  readonly #lives: RunnerLives;
  readonly #world: RefundWorld;
  readonly #runIds = new Map<string, string>();
  #statuses: ReadonlyMap<string, string> = new Map();

  constructor(lives: RunnerLives, world: RefundWorld) {
    this.#lives = lives;
    this.#world = world;
  }

  /** Keeps `size` runs under way until `goesOn` says no. Every ticket that was begun has its run then. */
  async keepBusy(size: number, goesOn: () => boolean): Promise<void> {
    await Promise.all([this.#watch(goesOn), ...Array.from({ length: size }, () => this.#caller(goesOn))]);
  }

  /** Every run, in the order of the tickets. Precondition: nobody is killed meanwhile. */
  async runs(): Promise<readonly Run[]> {
    const runs: Run[] = [];
    for (const { name } of this.tickets) {
      const runId = this.#runIds.get(name) ?? "";
      runs.push(Run.parse(await this.#lives.api.get(`/runs/${encodeURIComponent(runId)}`)));
    }
    return runs;
  }

  /** Reviewers who press the button again where nothing came back. */
  async approveWhatIsAsked(goesOn: () => boolean): Promise<void> {
    while (goesOn()) {
      const listed = await unlessDead(() => this.#lives.api.get("/approvals"));
      const { approvals } = listed === undefined ? { approvals: [] } : Approvals.parse(listed);
      for (const { approval_id, payload_digest, status } of approvals) {
        if (status !== "pending") continue;
        const body = { decision: "approve", by: "a reviewer", payload_digest };
        await unlessDead(() =>
          this.#lives.api.post(`/approvals/${encodeURIComponent(approval_id)}`, body, [200, 201, 409]),
        );
      }
      await pause(lookEveryMs);
    }
  }

  async #caller(goesOn: () => boolean): Promise<void> {
    while (goesOn()) {
      const runId = await this.#start(this.#nextTicket());
      while (goesOn() && this.#isUnderWay(runId)) await pause(lookEveryMs);
    }
  }

  #nextTicket(): Ticket {
    const n = this.tickets.length;
    const ticket = { name: `T${n}`, amountCents: (n % 5 < 2 ? 6_000 : 1_000) + n };
    this.tickets.push(ticket);
    return ticket;
  }

  /** Tries again until it is answered: the workflow id makes that harmless. */
  async #start({ name, amountCents }: Ticket): Promise<string> {
    await seedPayment(this.#world.payments.control, name);
    const body = { agent: drilledAgent, workflow_id: name, input: ticketFor(name, amountCents) };
    const answer = await until(
      `the start of ${name} is answered`,
      () => unlessDead(() => this.#lives.api.post("/runs", body)),
      (seen) => seen !== undefined,
    );
    const { run_id } = Started.parse(answer?.body);
    this.#runIds.set(name, run_id);
    return run_id;
  }

  /** One that is not listed yet has just begun. */
  #isUnderWay(runId: string): boolean {
    return ["RUNNING", "WAITING"].includes(this.#statuses.get(runId) ?? "RUNNING");
  }

  async #watch(goesOn: () => boolean): Promise<void> {
    while (goesOn()) {
      const listed = await unlessDead(() => this.#lives.api.get(`/runs?limit=${listedMax}`));
      if (listed !== undefined)
        this.#statuses = new Map(Runs.parse(listed).runs.map(({ run_id, status }) => [run_id, status]));
      await pause(lookEveryMs);
    }
  }
}
