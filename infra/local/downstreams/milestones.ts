/** Named counts that somebody can wait for, so that neither a test nor the demo guesses with a sleep. */
export class Milestones<Name extends string> {
  readonly #counts = new Map<string, number>();
  readonly #watchers = new Set<() => void>();
  readonly names: readonly Name[];

  constructor(names: readonly Name[]) {
    this.names = names;
  }

  count(name: Name): number {
    return this.#counts.get(name) ?? 0;
  }

  reach(name: Name, by = 1): void {
    this.#counts.set(name, this.count(name) + by);
    for (const watcher of [...this.#watchers]) watcher();
  }

  /** Resolves to true as soon as `name` was reached `times` times, to false after `timeoutMs`. */
  wait(name: Name, times: number, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (reached: boolean) => {
        clearTimeout(timer);
        this.#watchers.delete(look);
        resolve(reached);
      };
      const look = () => {
        if (this.count(name) >= times) settle(true);
      };
      const timer = setTimeout(() => settle(false), timeoutMs);
      this.#watchers.add(look);
      look();
    });
  }
}
