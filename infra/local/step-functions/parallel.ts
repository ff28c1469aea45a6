import type { Json } from "./json.ts";
import type { Branch } from "./state-schema.ts";
import type { Thread } from "./thread.ts";

export type RunBranch = (branch: Branch, input: Json, thread: Thread) => Promise<Json>;

/** One attempt of all branches; the results stand in the order of the branches. The first failure stops the others. */
export async function attemptBranches(
  branches: readonly Branch[],
  input: Json,
  parent: Thread,
  runBranch: RunBranch,
): Promise<Json> {
  parent.record("ParallelStateStarted");
  const group = parent.scope.child();
  const threads = branches.map(() => parent.fork(group));
  try {
    const runs = branches.map((branch, index) => runBranch(branch, input, threads[index] ?? parent.fork(group)));
    const results = await Promise.all(runs);
    parent.join(threads);
    parent.recordAside("ParallelStateSucceeded");
    return results;
  } finally {
    group.cancel();
    parent.join(threads);
  }
}
