import { END } from "../runlog/step.ts";
import type { AgentNode, Compensation, State, WriteNode } from "./node.ts";

/** A write that declares how it is undone. */
export type CompensableNode = WriteNode & { readonly compensate: Compensation };

export const isCompensable = (node: AgentNode): node is CompensableNode =>
  node.kind === "write" && node.compensate !== undefined;

/** The writes that can be undone, in order of definition. An agent without any never compensates. */
export const compensableNodes = ({ nodes }: { readonly nodes: readonly AgentNode[] }): readonly CompensableNode[] =>
  nodes.filter(isCompensable);

/** No node of a definition has a dot in its name: a derived one is never taken for another. */
const suffix = ".compensate";

export const compensationName = (write: string): string => `${write}${suffix}`;

/** The write that a node undoes. `undefined` for a node of the definition. */
export const writeUndoneBy = (node: string): string | undefined =>
  node.endsWith(suffix) ? node.slice(0, -suffix.length) : undefined;

export const isCompensation = (node: string): boolean => writeUndoneBy(node) !== undefined;

/** The operation that is undone, as its compensation finds it in the state, under the compensation's own name. */
export interface Undone {
  readonly business_key: string;
  readonly result: unknown;
}

/**
 * The write that undoes `write`: a node like any other, by which the operation has its id, its record, its fingerprint and its budget. It
 * has the business key of the operation that it undoes, so that each is undone once.
 */
export function compensationOf(write: CompensableNode): WriteNode {
  const name = compensationName(write.name);
  const undoneIn = (state: State) => state[name] as Undone; // put there by whoever runs it
  return {
    kind: "write",
    name,
    next: END,
    tool: write.compensate.tool,
    request(state) {
      const { [name]: _undone, ...seen } = state;
      return write.compensate.request(seen, undoneIn(state).result);
    },
    businessKey: (state) => undoneIn(state).business_key,
    precondition: undefined,
    compensate: undefined,
  };
}
