import { Fault } from "../../shared/faults/fault.ts";
import type { ModelPort, ModelRequest } from "../../shared/model/model-port.ts";

/** What a model node asked. Give `Data` the shape of what its prompt shows. */
export interface ModelAsked<Data = unknown> {
  readonly node: string;
  readonly instructions: string;
  readonly data: Data;
  /** 1 for the first time that this node asks, in this world. */
  readonly nth: number;
}

/** An answer, or what makes one. One that does not fit the node's schema is invalid, as a real model's would be. */
export type ModelScript = Readonly<Record<string, unknown>> | ((asked: ModelAsked<never>) => unknown);

/** Models that say what a test has them say. */
export class ScriptedModels implements ModelPort {
  readonly #scripts: Readonly<Record<string, ModelScript>>;
  readonly #asked: ModelAsked[] = [];

  constructor(scripts: Readonly<Record<string, ModelScript>>) {
    this.#scripts = scripts;
  }

  /** Every question, in order. */
  get asked(): readonly ModelAsked[] {
    return this.#asked;
  }

  async answer({ name, instructions, data, output }: ModelRequest) {
    const nth = this.#asked.filter(({ node }) => node === name).length + 1;
    const asked: ModelAsked = { node: name, instructions, data: JSON.parse(data) as unknown, nth };
    this.#asked.push(asked);
    const script = this.#scripts[name];
    // The script says for itself what it is shown.
    const said = typeof script === "function" ? await script(asked as ModelAsked<never>) : script;
    const fitting = output.safeParse(said);
    if (!fitting.success) {
      throw new Fault(
        "model_invalid_answer",
        "retryable",
        `the model of ${name} gave an answer that does not fit its schema`,
        {
          facts: { node: name },
          cause: fitting.error,
        },
      );
    }
    return { output: fitting.data, usage: { input_tokens: 0, output_tokens: 0 } };
  }
}
