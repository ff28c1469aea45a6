/** Who calls ports. */
export interface Actor {
  readonly name: string;
  /** Present where a process stands behind it: it can die, and has a clock of its own. */
  readonly process?: ActorProcess;
}

export interface ActorProcess {
  readonly dead: boolean;
  /** Calls that have been made and not answered. While there is one, the process waits. */
  pending: number;
  /** Ends it here and now. */
  die(): void;
  /** From now on its deadline does not end it. @returns that deadline, of the time that passes. */
  outlive(): number;
  jump(ms: number): void;
}
