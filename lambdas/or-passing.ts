import { wireError } from "../shared/compile/wire-errors.ts";
import { WireFault } from "../shared/faults/wire-fault.ts";

/**
 * Runs what a state asked for. What nobody classified is a passing fault of storage or of the platform, or a bug here: the log makes a
 * repeat harmless, so the state machine repeats it, bounded, and parks the run in the end. Its words stay with its cause: histories hold
 * no data.
 */
export async function orPassing<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WireFault) throw error;
    const name = error instanceof Error ? error.name : typeof error;
    throw new WireFault(wireError.passing, `${what}: ${name}`, error);
  }
}
