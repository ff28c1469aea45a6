/**
 * What a model node asks. `text` is fixed and part of the contract; `data` picks what the model sees, and travels beside the text as
 * JSON, so that user data never becomes instructions by string building.
 */
export interface Prompt<State = never> {
  readonly name: string;
  readonly release: number;
  readonly text: string;
  readonly data: (state: State) => unknown;
}

export const definePrompt = <State>(name: string, options: Omit<Prompt<State>, "name">): Prompt<State> => ({
  name,
  ...options,
});
