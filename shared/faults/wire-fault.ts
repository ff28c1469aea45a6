/**
 * What crosses to Step Functions: a name from `compile/wire-errors.ts` for Retry and Catch, and a message of ids only. The fault itself
 * lies in the run log; execution histories must not hold user data.
 */
export class WireFault extends Error {
  constructor(name: string, message: string, cause: unknown) {
    super(message, { cause });
    this.name = name;
  }
}
