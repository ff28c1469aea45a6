import { z } from "zod";

/** Steps at one level of a run: four digits keep positions sorting as text. A run that needs more is a loop node's. */
export const ordinalMax = 9_999;

/**
 * Where a step stands in its run, given by structure: `0003.order`. Nested parts are joined by `/`. What undoes the operation of
 * `0003.order` stands at `0003.order.compensate`.
 * It sorts, and says on its own which node it belongs to.
 */
export const Position = z
  .string()
  .regex(/^\d{4}\.[A-Za-z0-9_-]+(?:\.compensate)?$/u)
  .brand<"Position">();
export type Position = z.infer<typeof Position>;

export const positionAt = (ordinal: number, node: string): Position =>
  Position.parse(`${String(ordinal).padStart(4, "0")}.${node}`);

/** Position of `node` when it follows `position`. */
export const positionAfter = (position: Position, node: string): Position => positionAt(ordinalOf(position) + 1, node);

export const ordinalOf = (position: Position): number => Number(position.slice(0, 4));

export const nodeAt = (position: Position): string => position.slice(5);
