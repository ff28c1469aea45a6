import { ServiceError } from "./service-error.ts";

export type TaskAnswer =
  | { readonly kind: "success"; readonly output: string }
  | { readonly kind: "failure"; readonly error: string | undefined; readonly cause: string | undefined };

export interface TokenHolder {
  answer(answer: TaskAnswer): void;
  heartbeat(): void;
}

/** Tells a token of this engine from any other text, as the service can with its own. */
const TOKEN_PREFIX = "AQCMAAAAKgAAAAMAAAAA";

/** The open and closed task tokens. A token is a secret: whoever knows it decides how its Task ends. */
export class TaskTokens {
  readonly #holders = new Map<string, TokenHolder | "closed">();
  readonly #newId: () => string;

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  issue(): string {
    return `${TOKEN_PREFIX}${this.#newId()}`;
  }

  open(token: string, holder: TokenHolder): void {
    this.#holders.set(token, holder);
  }

  close(token: string): void {
    this.#holders.set(token, "closed");
  }

  /** The first answer closes the token. @throws ServiceError as the service does for unknown and closed tokens. */
  answer(token: string, answer: TaskAnswer): void {
    const holder = this.#holderOf(token);
    this.close(token);
    holder.answer(answer);
  }

  heartbeat(token: string): void {
    this.#holderOf(token).heartbeat();
  }

  #holderOf(token: string): TokenHolder {
    if (!token.startsWith(TOKEN_PREFIX)) throw new ServiceError("InvalidToken", "Invalid Token: 'Invalid token'");
    const holder = this.#holders.get(token);
    if (holder === undefined)
      throw new ServiceError("TaskDoesNotExist", "Task does not exist: no task was given this token");
    if (holder === "closed") {
      throw new ServiceError("TaskTimedOut", "Task Timed Out: 'Provided task does not exist anymore'");
    }
    return holder;
  }
}
