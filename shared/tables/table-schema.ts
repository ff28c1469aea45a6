/** A table as data: the CDK stack and the local runner create the same one from it. All keys are strings. */
export interface TableSchema {
  readonly name: string;
  readonly partitionKey: string;
  readonly sortKey?: string;
  /** Attribute with the epoch second at which an item may be deleted. */
  readonly ttlAttribute: string;
  readonly indexes: readonly IndexSchema[];
}

export interface IndexSchema {
  readonly name: string;
  readonly partitionKey: string;
  readonly sortKey?: string;
  readonly projection: "ALL" | "KEYS_ONLY" | readonly string[];
}

/** Partitions of a sparse "open" index: spreads its writes, and a reader asks each once. */
const openShardCount = 4;

/** The partition of the open index in which an item of `kind` with this id lies. */
export function openShard(kind: string, id: string): string {
  let sum = 0;
  for (const char of id) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 65_521;
  return `${kind}#${sum % openShardCount}`;
}

export const openShards = (kind: string): readonly string[] =>
  Array.from({ length: openShardCount }, (_, shard) => `${kind}#${shard}`);

/** Where a reader of an open index stopped: a shard, and the last key it saw there. Opaque to everybody else. */
export type OpenCursor = string;

/** One page of an open index. `next` is absent once the index has been read to its end. */
export interface OpenPage<T> {
  readonly items: readonly T[];
  readonly next?: OpenCursor;
}
