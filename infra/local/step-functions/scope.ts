import type { Timers } from "./timers.ts";

/** Unwinds whatever was waiting when its execution ended or its sibling branch failed. Never an error of a state. */
export class Cancelled extends Error {
  override readonly name = "Cancelled";
}

export interface Settle<T> {
  resolve(value: T): void;
  reject(thrown: unknown): void;
}

/** The lifetime of one line of control. Everything it waits for ends with it, and a late answer falls on deaf ears. */
export class Scope {
  readonly #hooks = new Set<() => void>();
  #cancelled = false;

  get cancelled(): boolean {
    return this.#cancelled;
  }

  child(): Scope {
    const child = new Scope();
    const hook = (): void => child.cancel();
    this.#hooks.add(hook);
    child.#hooks.add(() => this.#hooks.delete(hook));
    return child;
  }

  cancel(): void {
    if (this.#cancelled) return;
    this.#cancelled = true;
    const hooks = [...this.#hooks];
    this.#hooks.clear();
    for (const hook of hooks) hook();
  }

  /** Waits for the first answer `begin` gives; `begin` returns the clean-up, which runs exactly once, however it ends.
   *  @throws Cancelled when the scope ends first. */
  first<T>(begin: (settle: Settle<T>) => () => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#cancelled) return reject(new Cancelled());
      let over = false;
      let cleanUp = (): void => {};
      const finish = (conclude: () => void): void => {
        if (over) return;
        over = true;
        this.#hooks.delete(onCancel);
        cleanUp();
        conclude();
      };
      const onCancel = (): void => finish(() => reject(new Cancelled()));
      this.#hooks.add(onCancel);
      cleanUp = begin({
        resolve: (value) => finish(() => resolve(value)),
        reject: (thrown) => finish(() => reject(thrown instanceof Error ? thrown : new Error(String(thrown)))),
      });
      if (over) cleanUp();
    });
  }

  sleep(timers: Timers, delayMs: number): Promise<void> {
    return this.first<void>((settle) => timers.set(() => settle.resolve(), delayMs));
  }
}
