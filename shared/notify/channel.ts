import type { ReviewLinks } from "../link/review-links.ts";
import type { Approvers } from "./approvers.ts";
import type { Notice } from "./notice.ts";
import type { NoticeLog } from "./notice-log.ts";

/** A way to tell people. Each sends at least once. */
export interface Channel {
  /** Unique among the channels, and kept: what was told by it is recorded under this name. */
  readonly name: string;
  /**
   * For whom one notice each is made: those of `approvers` whose link nobody else gets to see here, or `undefined` for everybody, who then
   * get a link that asks who comes. Never empty.
   */
  audience(approvers: readonly string[]): readonly (string | undefined)[];
  /** @throws what kept it from being sent. */
  send(notice: Notice, signal: AbortSignal): Promise<void>;
}

/** Who is told about approvals, how, and with which links. */
export interface Notices {
  readonly channels: readonly Channel[];
  readonly links: ReviewLinks;
  readonly approvers: Approvers;
  readonly log: NoticeLog;
}

/** For channels where each message reaches one person. */
export const oneEach = (approvers: readonly string[]): readonly (string | undefined)[] =>
  approvers.length === 0 ? [undefined] : approvers;
