import { expect, test } from "vitest";
import { Cancelled, Scope } from "../../../../infra/local/step-functions/scope.ts";
import { ManualTimers } from "./manual-timers.ts";

test("a wait that begins after the end is over at once and sets no timer", async () => {
  const timers = new ManualTimers();
  const scope = new Scope();
  scope.cancel();
  await expect(scope.sleep(timers, 1_000)).rejects.toBeInstanceOf(Cancelled);
  expect(timers.waiting).toBe(0);
});

test("the end of a scope ends its children and not its parent", async () => {
  const timers = new ManualTimers();
  const parent = new Scope();
  const middle = parent.child();
  const child = middle.child();
  const sleep = child.sleep(timers, 1_000);
  middle.cancel();
  await expect(sleep).rejects.toBeInstanceOf(Cancelled);
  expect([parent.cancelled, middle.cancelled, child.cancelled]).toEqual([false, true, true]);
});

test("the clean-up of a wait runs once, also when the answer comes before the wait is set up", async () => {
  const scope = new Scope();
  let cleanUps = 0;
  const answer = await scope.first<string>((settle) => {
    settle.resolve("at once");
    settle.resolve("again");
    return () => (cleanUps += 1);
  });
  scope.cancel();
  expect([answer, cleanUps]).toEqual(["at once", 1]);
});
