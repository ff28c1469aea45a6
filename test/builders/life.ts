/** What a dead process can still do: nothing. Every port refuses with this. */
export class ProcessDied extends Error {
  override readonly name = "ProcessDied";
}

/** Whether the process died of it, however the code around it tells that. Nobody hears a dead process. */
export const diedOf = (error: unknown): boolean =>
  error instanceof ProcessDied || (error instanceof Error && error.cause !== undefined && diedOf(error.cause));

/** Where a process dies: around the `nth` (default first) call of a port's method, e.g. `ledger.claim`. */
export interface CrashPoint {
  readonly when: "before" | "after";
  readonly call: string;
  readonly nth?: number;
}

/** One process. It may be told to die at a call; from then on everything that passes through it refuses. */
export class Life {
  readonly #crash: CrashPoint | undefined;
  #dead = false;
  /** Calls that were made while it lived, in order. */
  readonly calls: string[] = [];

  constructor(crash?: CrashPoint) {
    this.#crash = crash;
  }

  get dead(): boolean {
    return this.#dead;
  }

  async pass<T>(call: string, run: () => Promise<T>): Promise<T> {
    this.#alive(call);
    this.calls.push(call);
    const nth = this.calls.filter((other) => other === call).length;
    const here = this.#crash?.call === call && nth === (this.#crash.nth ?? 1) ? this.#crash.when : undefined;
    if (here === "before") this.#die(call);
    const value = await run();
    if (here === "after") this.#die(call);
    this.#alive(call);
    return value;
  }

  /** The same port, as this process sees it. */
  port<T extends object>(name: string, port: T): T {
    return new Proxy(port, {
      get: (target, property, receiver) => {
        const member: unknown = Reflect.get(target, property, receiver);
        if (typeof member !== "function") return member;
        return (...args: unknown[]) =>
          this.pass(`${name}.${String(property)}`, () => member.apply(target, args) as Promise<unknown>);
      },
    });
  }

  #die(call: string): never {
    this.#dead = true;
    throw new ProcessDied(`died at ${call}`);
  }

  #alive(call: string): void {
    if (this.#dead) throw new ProcessDied(`dead, and asked for ${call}`);
  }
}
