/** One request that reached the other side, or the code that speaks to it. */
export interface ToolRequest {
  readonly tool: string;
  readonly verb: "execute" | "lookup";
  /** The idempotency key: the operation's id. Absent where a tool only reads. */
  readonly key: string | undefined;
  readonly request: unknown;
  /** Milliseconds since the world began. */
  readonly atMs: number;
}

/** Something that happened outside. */
export interface Effect {
  readonly tool: string;
  readonly key: string;
  /** As the ledger calls it; undefined where no operation of this world has the key. */
  readonly businessKey: string | undefined;
  readonly request: unknown;
  readonly result: unknown;
  readonly atMs: number;
}

/** What reached the outside of one world, counted where it arrives and nowhere else. Neither the ledger nor the run log has a say in it. */
export class Journal {
  readonly #requests: ToolRequest[] = [];
  readonly #effects: Omit<Effect, "businessKey">[] = [];
  readonly #businessKeyOf: (key: string) => string | undefined;

  constructor(businessKeyOf: (key: string) => string | undefined) {
    this.#businessKeyOf = businessKeyOf;
  }

  arrived(request: ToolRequest): void {
    this.#requests.push(request);
  }

  happened(effect: Omit<Effect, "businessKey">): void {
    this.#effects.push(effect);
  }

  /** In order of arrival. */
  requests(tool?: string): readonly ToolRequest[] {
    return this.#requests.filter((request) => tool === undefined || request.tool === tool);
  }

  /** In order. */
  effects(tool?: string, businessKey?: string): readonly Effect[] {
    return this.#effects
      .map((effect) => ({ ...effect, businessKey: this.#businessKeyOf(effect.key) }))
      .filter((effect) => tool === undefined || effect.tool === tool)
      .filter((effect) => businessKey === undefined || effect.businessKey === businessKey);
  }
}
