import { createHash } from "node:crypto";

/** Where somebody stands: about to act, asleep until a moment, or done. */
export type Standing =
  | {
      readonly kind: "at_gate";
      readonly call: string;
      readonly ways: readonly string[];
      readonly go: (way: string) => Promise<void>;
    }
  | { readonly kind: "asleep"; readonly untilMs: number }
  | { readonly kind: "done"; readonly as: string };

/** Thrown at whoever was told that a call failed on its way. */
export class ConnectionLost extends Error {
  readonly code = "ECONNRESET";
}

/**
 * Somebody whose every step outside itself passes a gate. It moves only when it is told to, and everything it has been answered is
 * kept: since its code is deterministic, that is where it stands.
 */
export class Actor {
  readonly name: string;
  /** Digest of everything it has been answered, in order, and how much that was. */
  history = "";
  observations = 0;
  standing: Standing = { kind: "done", as: "not started" };
  /** Rises with every life: a promise of an earlier one leads nowhere. */
  life = 0;
  #moved: (() => void) | undefined;

  constructor(name: string) {
    this.name = name;
  }

  observe(what: string): void {
    this.observations++;
    this.history = createHash("sha1").update(this.history).update(what).digest("base64");
  }

  /** Resolves once the actor stands somewhere again. */
  async until(act: () => void): Promise<void> {
    const moved = new Promise<void>((resolve) => (this.#moved = resolve));
    act();
    await moved;
  }

  stand(standing: Standing): void {
    this.standing = standing;
    const moved = this.#moved;
    this.#moved = undefined;
    moved?.();
  }

  /** One step outside. `perform` is told which of `ways` it goes; the answer is observed. */
  gate<T>(call: string, ways: readonly string[], perform: (way: string) => Promise<T>): Promise<T> {
    const life = this.life;
    return new Promise<T>((resolve, reject) => {
      this.stand({
        kind: "at_gate",
        call,
        ways,
        go: async (way) => {
          let answer: { readonly value: T } | { readonly error: unknown };
          try {
            answer = { value: await perform(way) };
          } catch (error) {
            answer = { error };
          }
          // Died of it: nobody is there to hear the answer.
          if (life !== this.life) return;
          const said = "value" in answer ? JSON.stringify(answer.value) : `!${String(answer.error)}`;
          this.observe(`${call}:${said}`);
          await this.until(() => ("value" in answer ? resolve(answer.value) : reject(asError(answer.error))));
        },
      });
    });
  }

  /** Dies where it stands: nothing of this life goes on. */
  die(as: string): void {
    this.life++;
    this.observe(`died:${as}`);
    this.standing = { kind: "done", as };
  }
}

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));
