import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/**
 * Suites that need more than Node (Python, a browser, an AWS emulator), or more time than a newcomer has (drills). Each runs alone:
 * `vitest run --project oracle`.
 */
const suitesWithNeeds = ["drills", "oracle", "deploy", "browser"] as const;
const folderOf = (suite: string) => `test/${suite}/**/*.test.ts`;

/** Many tests start child processes of their own, so a worker costs about two cores. Two workers is the least that overlaps. */
const workers = Math.min(4, Math.max(2, Math.floor(availableParallelism() / 2)));

export default defineConfig({
  test: {
    environment: "node",
    // Processes, not threads: signals, `process.chdir` and native add-ons (the on-disk database) behave as in production.
    pool: "forks",
    maxWorkers: workers,
    // A test may bundle an agent and start several Lambda processes; on two busy cores that takes seconds, never half a minute.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: suitesWithNeeds.map(folderOf) },
      },
      ...suitesWithNeeds.map((name) => ({
        extends: true as const,
        // One file at a time: each of these suites owns a server.
        test: { name, include: [folderOf(name)], fileParallelism: false },
      })),
    ],
  },
});
