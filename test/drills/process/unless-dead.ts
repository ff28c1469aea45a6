import { CliError } from "../../../infra/cli/cli-error.ts";

/** Nothing where whoever was asked died, or was dead. @throws what a request itself was refused for. */
export async function unlessDead<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    const refused = !(error instanceof CliError) || error.exitCode === 2;
    if (refused) throw error;
    return undefined;
  }
}
