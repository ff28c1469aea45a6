import { ServiceError } from "./service-error.ts";

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextToken?: string;
}

/** The API's own numbers: 0 or nothing means 100 a page, and never more than 1,000. */
const PAGE_DEFAULT = 100;

/** One page of a list that only grows at its end. @throws ServiceError `InvalidToken` for a token of somewhere else. */
export function pageOf<T>(items: readonly T[], maxResults: number | undefined, nextToken: string | undefined): Page<T> {
  const start = nextToken === undefined ? 0 : offsetOf(nextToken);
  const end = start + (maxResults || PAGE_DEFAULT);
  const page = { items: items.slice(start, end) };
  return end < items.length ? { ...page, nextToken: Buffer.from(`offset:${end}`).toString("base64") } : page;
}

function offsetOf(token: string): number {
  const match = /^offset:(\d+)$/.exec(Buffer.from(token, "base64").toString("utf8"));
  if (match === null)
    throw new ServiceError(
      "InvalidToken",
      `Invalid Token: expected the nextToken of an earlier answer, found '${token}'`,
    );
  return Number(match[1]);
}
