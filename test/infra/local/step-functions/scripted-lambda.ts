import type { InvokeLambda, InvokeResult } from "../../../../infra/local/step-functions/invoke-port.ts";

export interface ScriptedCall {
  readonly functionName: string;
  // What a test expects of a payload it says itself.
  readonly payload: unknown;
  succeed(payload?: unknown): void;
  fail(error: string, message?: string): void;
  /** The port itself rejects, which it promises never to do. */
  reject(error: Error): void;
}

/** Functions that run until the test says how they end. */
export class ScriptedLambda {
  readonly calls: ScriptedCall[] = [];
  #taken = 0;
  #arrived: (() => void)[] = [];

  readonly invoke: InvokeLambda = (functionName, payload) =>
    new Promise<InvokeResult>((resolve, reject) => {
      this.calls.push({
        functionName,
        payload,
        succeed: (result = {}) => resolve({ ok: true, payload: result }),
        fail: (error, message = "it went wrong") => resolve({ ok: false, error, cause: lambdaCause(error, message) }),
        reject,
      });
      for (const wake of this.#arrived.splice(0)) wake();
    });

  /** The next call that no test line has taken yet; waits for it. */
  async next(): Promise<ScriptedCall> {
    const call = this.calls[this.#taken];
    if (call === undefined) {
      await new Promise<void>((resolve) => this.#arrived.push(resolve));
      return this.next();
    }
    this.#taken += 1;
    return call;
  }
}

export function lambdaCause(errorType: string, errorMessage: string): string {
  return JSON.stringify({ errorType, errorMessage, trace: [] });
}
