/** An error of a state as Retry and Catch see it: `error` is matched by name, `cause` is text. */
export class StateFailure extends Error {
  override readonly name = "StateFailure";
  readonly error: string;
  readonly causeText: string;

  constructor(error: string, causeText: string) {
    super(`${error}: ${causeText}`);
    this.error = error;
    this.causeText = causeText;
  }
}

/** A path that selects nothing, or not what its field needs. Becomes `States.Runtime` once the state and its event id are known. */
export class PathFailure extends Error {
  override readonly name = "PathFailure";
}
