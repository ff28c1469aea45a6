import type { Waiter } from "../waiter/waiter.ts";
import type { NoticeKind } from "./notice.ts";

/** What was told by which channel: `requested/sns`. */
export type Mark = `${NoticeKind}/${string}`;

/** Remembers what people were told about a waiting approval, so that the sweep tells the rest and nothing twice. */
export interface NoticeLog {
  read(waiter: Pick<Waiter, "run_id" | "position">): Promise<ReadonlySet<string>>;
  /** Adds to what is there. */
  add(waiter: Pick<Waiter, "run_id" | "position">, marks: readonly Mark[]): Promise<void>;
}
