import { expect, test } from "vitest";
import type { Forked } from "../../../infra/cli/api-shapes.ts";
import { describeFork } from "../../../infra/cli/fork-command.ts";
import { surefoot } from "./command.ts";

const forked: Forked = {
  run_id: "refund-agent-sim-1",
  forked_from: { run_id: "run-1", at: "0004.refund" },
  simulated: true,
  created: true,
  records_taken: 4,
  repeats: [],
  writes_ahead: ["refund", "notify"],
};
const done = { operation_id: "op-1", action_name: "create_refund", business_key: "ORD-1", status: "SUCCEEDED" };

test("a simulated fork says that it reaches nobody, and what the other run had done", () => {
  const text = describeFork({ ...forked, repeats: [done] });
  expect(text).toMatch(
    /^refund-agent-sim-1 goes on from 4 records of run-1 before 0004\.refund; writes ahead: refund, notify\n/u,
  );
  expect(text).toContain("Simulated: no write and no approval of it reaches anybody");
  expect(text).toMatch(/here it is made up:\n.*OPERATION[\s\S]*op-1 +create_refund +ORD-1 +SUCCEEDED/u);
});

test("a live fork says that its writes are new, and one that was there before says so", () => {
  const text = describeFork({ ...forked, simulated: false, created: false, writes_ahead: [] });
  expect(text).toContain("was forked before, from 4 records");
  expect(text).toContain("no writes lie ahead");
  expect(text).toContain("Live: its writes are new operations.");
});

test.each([
  ["no place", ["fork", "run-1"], /required option '--at <position>'/u],
  [
    "a version that is none",
    ["fork", "run-1", "--at", "0001.a", "--version", "x"],
    /--version: expected a whole number/u,
  ],
])("a fork with %s is a wrong command, and nothing is asked", async (_what, command, message) => {
  const { code, stderr } = await surefoot(command);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});
