import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiClient } from "../../../infra/cli/api-client.ts";
import { controlClient } from "../../../infra/local/downstreams/control-client.ts";
import { actionsOf } from "../../e2e/stage.ts";
import { serving, type Serving, surefoot } from "./command.ts";

/** Starting everything, bundles and cold starts included, on a machine that is busy with other suites. */
const slowMs = 240_000;

let folder: string;
let runner: Serving;
let actions: ReturnType<typeof actionsOf>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "surefoot-commands-"));
  runner = await serving(["--folder", folder]);
  actions = actionsOf(apiClient(runner.told.url));
}, slowMs);
afterAll(async () => {
  await runner?.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}, slowMs);

const ticket = (over: object = {}) => ({
  orderId: "ORD-DEMO-1",
  paymentId: "pi_demo_1",
  requestedAmountCents: 2_100,
  customerEmail: "customer@example.com",
  message: "It arrived broken.",
  ...over,
});
const large = ticket({ orderId: "ORD-DEMO-4", paymentId: "pi_demo_4", requestedAmountCents: 6_000 });
const trace = /^\s+at .*:\d+:\d+/mu;

const run = (args: readonly string[], input?: string) =>
  surefoot([...args, "--folder", folder], input === undefined ? {} : { input });
const startArgs = (workflowId: string, input: string) => [
  ...["start", "refund-agent", "--workflow-id", workflowId],
  ...["--input", input],
];

test("serve tells in one line where it is, as which process, and where the other side is", () => {
  expect(runner.told).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
    pid: expect.any(Number) as number,
    resumed: [],
    payments: expect.stringMatching(/^http/) as string,
    mail: expect.stringMatching(/^http/) as string,
    model: expect.stringMatching(/^http/) as string,
  });
});

test("what there is none of is said, not shown as an empty table", async () => {
  const [runs, operations] = await Promise.all([run(["runs", "--status", "parked"]), run(["operations"])]);

  expect([runs.code, runs.stdout]).toEqual([0, "no runs\n"]);
  expect([operations.code, operations.stdout]).toEqual([0, "no operations are UNKNOWN\n"]);
});

describe("start", () => {
  test("takes JSON text, a file and standard input; the same start again returns the run that exists", async () => {
    const file = join(folder, "ticket.json");
    writeFileSync(file, `\uFEFF${JSON.stringify(ticket(), null, 2)}`);
    const first = await run([...startArgs("T-SMALL", JSON.stringify(ticket())), "--json"]);
    const second = await run([...startArgs("T-SMALL", `@${file}`), "--json"]);
    const third = await run(startArgs("T-SMALL", "-"), JSON.stringify(ticket()));

    expect([first.code, second.code, third.code]).toEqual([0, 0, 0]);
    expect(first.json()).toMatchObject({ workflow_id: "T-SMALL", agent: "refund-agent", created: true });
    expect(second.json()).toMatchObject({ run_id: first.json().run_id, created: false, same_input: true });
    expect(third.stdout).toMatch(
      new RegExp(`^${first.json().run_id}  [A-Z]+  \\(exists: the workflow id has this run`),
    );
    expect(second.stderr).toBe("");
  });

  test("with another input warns which one counts, and starts nothing", async () => {
    const again = await run([...startArgs("T-SMALL", JSON.stringify(ticket({ requestedAmountCents: 1 }))), "--json"]);

    expect(again.code).toBe(0);
    expect(again.stderr).toMatch(
      /^warning: run refund-agent-\S+ was started with another input, which is the one that/,
    );
    expect(again.json()).toMatchObject({ created: false, same_input: false });
  });

  test.each<[string, readonly string[], string, RegExp]>([
    [
      "an unknown agent",
      ["start", "refnd", "--workflow-id", "T", "--input", "{}"],
      "unknown_agent",
      /"refnd" here: expected one of refund-agent/,
    ],
    ["input that does not fit", startArgs("T-BAD", "{}"), "invalid_input", /input\.orderId: .*Nothing was started/],
    ["a workflow id with spaces", startArgs("T BAD", "{}"), "invalid_request", /workflow_id: .*no spaces/],
  ])("%s ends with 2 and the API's own sentence", async (_what, args, code, message) => {
    const { code: exit, stderr, json } = await run([...args, "--json"]);

    expect(stderr).toMatch(message);
    expect(exit).toBe(2);
    expect(stderr).not.toMatch(trace);
    expect(json().error.code).toBe(code);
  });
});

describe("a run that needs no person", () => {
  test(
    "is traced by its workflow id as by its run id, with what it did outside",
    async () => {
      const { run_id } = (await run([...startArgs("T-SMALL", JSON.stringify(ticket())), "--json"])).json();
      await actions.ended(run_id);
      const byWorkflow = await run(["trace", "T-SMALL"]);
      const byRun = await run(["trace", run_id, "--json"]);

      expect(byWorkflow.stdout).toMatch(new RegExp(`^${run_id}  SUCCEEDED \\(completed\\)$`, "mu"));
      expect(byWorkflow.stdout).toMatch(/^0003\.review +approval +not_required +refund /mu);
      expect(byWorkflow.stdout).toMatch(/create_refund +ORD-DEMO-1 +SUCCEEDED +1 +re_/);
      expect(byWorkflow.stdout.trimEnd().split("\n").at(-1)).toBe("Nothing to do.");
      expect(byRun.json()).toMatchObject({ run_id, status: "SUCCEEDED", operations: [{}, {}] });

      const again = await run(startArgs("T-SMALL", JSON.stringify(ticket())));
      expect(again.stdout).toContain("--allow-new-run starts another");
    },
    slowMs,
  );

  test("is listed by status and workflow, its operations by run", async () => {
    const runs = await run(["runs", "--status", "succeeded", "--workflow-id", "T-SMALL", "--json"]);
    const [only] = runs.json().runs;
    const operations = await run(["operations", "--run", only.run_id]);

    expect(runs.json().runs).toHaveLength(1);
    expect(operations.stdout).toMatch(/^OPERATION +ACTION +KEY +STATUS +ATTEMPT +REFERENCE$/mu);
    expect(operations.stdout).toMatch(/^[0-9a-f]{32} +create_refund +ORD-DEMO-1 +SUCCEEDED +1 +re_\S+$/mu);
  });
});

describe("a run that waits for a person", () => {
  let runId: string;
  let approvalId: string;
  beforeAll(async () => {
    const started = await run([...startArgs("T-LARGE", JSON.stringify(large)), "--json"]);
    runId = started.json().run_id;
    approvalId = (await actions.asked(runId)).approval_id;
  }, slowMs);

  test("is listed with what is asked, and its trace gives the command that answers", async () => {
    const [approvals, traced, raw] = await Promise.all([
      run(["approvals"]),
      run(["trace", "T-LARGE"]),
      run(["approvals", "--json"]),
    ]);

    expect(approvals.stdout).toContain(`${approvalId}  pending`);
    expect(approvals.stdout).toMatch(/^Refund for order ORD-DEMO-4 {2}\(create_refund, risk high, until 20/mu);
    expect(approvals.stdout).toMatch(/^ {2}Refund: USD 60\.00$/mu);
    expect(traced.stdout.trimEnd().split("\n").at(-1)).toMatch(
      new RegExp(`^Waits for a person: surefoot approve ${approvalId} --by <you> \\(until 20`),
    );
    expect(raw.stdout).not.toContain("task_token");
    expect(raw.json().approvals).toMatchObject([{ approval_id: approvalId, status: "pending" }]);
  });

  test("of an agent that does not say how to undo is not cancelled with compensation, and goes on waiting", async () => {
    const cancelled = await run(["cancel", runId, "--compensate"]);
    expect(cancelled.code).toBe(1);
    expect(cancelled.stderr).toMatch(
      /^surefoot: run \S+ cannot be compensated: refund-agent version 1 declares no way to undo a write\. Nothing was changed/mu,
    );
    expect((await actions.run(runId)).status).toBe("WAITING");
  });

  test(
    "goes back with the reviewer's words, and asks again; the first no stays what counts",
    async () => {
      const rejected = await run(["reject", approvalId, "--comment", "too much", "--json"]);
      expect(rejected.code).toBe(0);
      expect(rejected.json().decision).toMatchObject({ outcome: "rejected", by: "tester", comment: "too much" });

      const late = await run(["approve", approvalId, "--by", "ann", "--json"]);
      expect(late.code).toBe(1);
      expect(late.stderr).toMatch(/^surefoot: approval \S+ was rejected by tester at 20\S+: that decision counts$/mu);
      expect(late.json()).toMatchObject({ error: { code: "already_decided" }, decision: { by: "tester" } });

      const asked = await actions.asked(runId, { approval_id: approvalId } as never); // only its id is compared
      expect(asked.approval_id).not.toBe(approvalId);
      approvalId = asked.approval_id;
    },
    slowMs,
  );

  test(
    "goes on with a yes to its end",
    async () => {
      const approved = await run(["approve", approvalId, "--by", "ann"]);
      expect(approved.code).toBe(0);
      expect(approved.stdout).toMatch(
        new RegExp(`^approved by ann at 20\\S+; surefoot trace ${runId} shows how it goes`),
      );

      expect((await actions.ended(runId)).status).toBe("SUCCEEDED");
      expect((await run(["approvals"])).stdout).toBe("nothing waits for a person\n");
    },
    slowMs,
  );
});

test(
  "a trace names what is unknown first, and where to look for it",
  async () => {
    const mail = controlClient(String(runner.told["mail"]));
    await mail.post("faults", { fault: "drop_after_accept" });
    const input = ticket({ orderId: "ORD-DEMO-3", paymentId: "pi_demo_3", requestedAmountCents: 1_000 });
    const { run_id } = (await run([...startArgs("T-DOUBT", JSON.stringify(input)), "--json"])).json();
    await actions.ended(run_id);
    const [traced, unknown] = await Promise.all([run(["trace", "T-DOUBT"]), run(["operations", "--json"])]);

    expect(traced.stdout).toMatch(new RegExp(`^${run_id}  PARKED`, "mu"));
    expect(traced.stdout).toMatch(/^UNKNOWN: send_mail for refund-mail\/ORD-DEMO-3 may or may not have happened \(/mu);
    expect(unknown.json().operations).toMatchObject([{ run_id, action_name: "send_mail", status: "UNKNOWN" }]);
    expect(await mail.get("effects")).toMatchObject({
      by_operation: { [unknown.json().operations[0].operation_id]: 1 },
    });
  },
  slowMs,
);

describe("what does not exist ends with 2", () => {
  test.each<[string, readonly string[], RegExp]>([
    [
      "a run",
      ["trace", "refund-agent-20260902-nothing"],
      /no run and no workflow is called "refund-agent-20260902-nothing": surefoot runs/,
    ],
    ["a workflow with a slash", ["trace", "org/repo#7"], /no run and no workflow is called "org\/repo#7"/],
    ["an id that cannot be", ["trace", "a b:c"], /no run and no workflow is called "a b:c"/],
    [
      "an approval",
      ["approve", "run-1:0000.review"],
      /there is no approval "run-1:0000\.review": surefoot approvals lists/,
    ],
    ["an approval id with a slash", ["reject", "a/b"], /there is no approval "a\/b"/],
    ["a run's operations", ["operations", "--run", "run-1"], /there is no run "run-1": surefoot runs lists them/],
    ["an operation status", ["operations", "--status", "lost"], /status: expected one of PENDING, .*found "LOST"/],
    ["settled ones of all runs", ["operations", "--status", "succeeded"], /by run only/],
    ["a run status", ["runs", "--status", "lost"], /status: expected one of RUNNING, .*found "LOST"/],
    ["an agent", ["runs", "--agent", "refnd"], /there is no agent "refnd" here: expected one of refund-agent/],
  ])("%s", async (_what, args, message) => {
    const { code, stderr, json } = await run([...args, "--json"]);

    expect(stderr).toMatch(message);
    expect(code).toBe(2);
    expect(stderr).not.toMatch(trace);
    expect(json().error.code).toMatch(/^[a-z_]+$/);
  });
});

describe("a second runner", () => {
  test(
    "on a port that is taken ends with 1 and says what to do",
    async () => {
      const { port } = new URL(runner.told.url);
      const own = mkdtempSync(join(tmpdir(), "surefoot-second-"));
      const { code, stderr, json } = await surefoot(["serve", "--port", port, "--folder", own, "--json"]);
      rmSync(own, { recursive: true, force: true });

      expect(stderr).toContain(`surefoot: port ${port} is taken: choose another with --port, or 0 for a free one\n`);
      expect(code).toBe(1);
      expect(stderr).not.toMatch(trace);
      expect(json().error.code).toBe("port_taken");
    },
    slowMs,
  );

  test(
    "in a folder that is in use ends with 1, and leaves the first one's address alone",
    async () => {
      const { code, stderr } = await surefoot(["serve", "--port", "0", "--folder", folder]);

      expect(stderr).toBe(
        `surefoot: ${folder} is in use by the runner at ${runner.told.url} (process ${runner.told.pid}): use that one, stop it, or choose another --folder\n`,
      );
      expect(code).toBe(1);
      expect(stderr).not.toMatch(trace);
      expect((await run(["runs", "--limit", "1"])).code).toBe(0);
    },
    slowMs,
  );
});

test(
  "a stopped runner says so, ends with 0, and takes its address with it",
  async () => {
    expect(await runner.stop()).toBe(0);
    expect(runner.stderr()).toContain("stopping …");
    expect((await run(["runs"])).code).toBe(3);
  },
  slowMs,
);
