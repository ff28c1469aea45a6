import { isCompensation } from "../agent/compensation.ts";
import { sinceAdoption } from "../runlog/adoption.ts";
import { END } from "../runlog/step.ts";
import { edgesBefore, leadsTo } from "./contract-graph.ts";
import type { Manifest } from "./manifest.ts";

/** Where every run comes from. No node can have this name. */
export const START = "start!";

export interface Passed {
  readonly node: string;
  readonly kind: string;
  readonly fingerprint: string;
}

export interface Edge {
  readonly from: string;
  readonly to: string;
}

/** Where a run stands, as far as a contract is concerned. */
export interface Foothold {
  /** The node that is next, or `end`. */
  readonly node: string;
  /** A person was asked there, and each of their answers leads where it says. */
  readonly asked: Readonly<Record<string, string>> | undefined;
  /** Nodes whose operation has begun and is not in the log yet: it may have reached the outside. */
  readonly begun: readonly string[];
  /** It has turned back, and takes back what it did. */
  readonly undoing: boolean;
  /** The records that make its state: the latest of each node. */
  readonly passed: readonly Passed[];
  /** The way that led there, without the rounds it went in between. */
  readonly edges: readonly Edge[];
}

/** The parts of a history that tell where a run stands. Plain text, so that what another version or an API says can be read too. */
export interface FootholdHistory {
  readonly run: { readonly entry: string; readonly compensation?: unknown };
  readonly steps: readonly {
    readonly position: string;
    readonly node: string;
    readonly kind: string;
    readonly fingerprint: string;
    readonly next: string;
    readonly operation_id?: string | undefined;
  }[];
  readonly waiters: readonly {
    readonly position: string;
    readonly node: string;
    readonly kind: string;
    readonly status: string;
    readonly routes: Readonly<Record<string, string>>;
  }[];
}

/** What the ledger says about an operation of the run. */
export interface FootholdOperation {
  readonly operation_id: string;
  readonly position: string;
  readonly status: string;
}

/**
 * Where a run stands by its log and its part of the ledger. Of one that was taken over by the version of `contract`, only what came since
 * is its own; of what came before it is taken that it went every way that leads there.
 */
export function footholdOf(
  { run, steps, waiters }: FootholdHistory,
  operations: readonly FootholdOperation[],
  contract: Manifest | undefined,
): Foothold {
  const { adoption, own } = sinceAdoption(steps);
  const before = adoption && contract ? enteredAt(contract, adoption.next) : undefined;
  const forward = own.filter((step) => !isCompensation(step.node));
  const node = forward.at(-1)?.next ?? adoption?.next ?? run.entry;
  const recorded = new Set(steps.map((step) => step.position));
  const open = waiters.filter((waiter) => !recorded.has(waiter.position));
  const asked = open.find((waiter) => waiter.kind === "approval" && waiter.node === node);
  return {
    node,
    asked: asked?.routes,
    begun: begunOf(steps, open, operations),
    undoing: run.compensation !== undefined,
    passed: [...new Map([...(before?.passed ?? []), ...own].map((step) => [step.node, step])).values()],
    edges: before ? [...before.edges, ...wayOf(node, forward).slice(1)] : wayOf(run.entry, forward),
  };
}

/**
 * FAILED means that it did not happen, so such an operation is as good as none. PENDING is a request that nobody sent, unless it was handed
 * out: then somebody waits for it.
 */
function begunOf(
  steps: FootholdHistory["steps"],
  waiters: FootholdHistory["waiters"],
  operations: readonly FootholdOperation[],
): readonly string[] {
  const inLog = new Set(steps.map((step) => step.operation_id));
  const inDoubt = operations
    .filter(({ status }) => status === "STARTED" || status === "UNKNOWN" || status === "SUCCEEDED")
    .filter(({ operation_id }) => !inLog.has(operation_id))
    .map(({ position }) => position.slice(position.lastIndexOf("/") + 1).replace(/^\d+\./u, ""));
  const handedOut = waiters.filter((waiter) => waiter.kind !== "approval" && waiter.status === "OPEN");
  return [...new Set([...inDoubt, ...handedOut.map((waiter) => waiter.node)])];
}

/** Where a record leads back to a node on the way, it ends a round: what lies between is gone over again. */
function wayOf(entry: string, steps: FootholdHistory["steps"]): readonly Edge[] {
  const way: { readonly node: string; readonly next: string }[] = [];
  for (const step of steps) {
    way.push({ node: step.node, next: step.next });
    const back = way.findIndex(({ node }) => node === step.next);
    if (back >= 0) way.length = back;
  }
  return [{ from: START, to: way[0]?.node ?? entry }, ...way.map(({ node, next }) => ({ from: node, to: next }))];
}

/**
 * Every place where a run under this contract may stand: about to enter a node, waiting there for an answer, with its operation begun, or
 * at its end, which nobody has noted yet. Where several ways lead there, it has gone all of them, and in every round that there is: a
 * change on any of them shows.
 */
export function everyFoothold(manifest: Manifest): readonly Foothold[] {
  const entered = (node: string) => enteredAt(manifest, node);
  const inNodes = manifest.nodes.flatMap((node): readonly Foothold[] => {
    const at = entered(node.name);
    if (node.answers) {
      const { approved, rejected, expired } = node.answers;
      return [at, { ...at, asked: { approved, rejected, expired } }];
    }
    return node.kind === "write" ? [at, { ...at, begun: [node.name] }] : [at];
  });
  return [...inNodes, entered(END)];
}

/** About to enter a node, by every way that there is. */
const enteredAt = (manifest: Manifest, node: string): Foothold => ({
  node,
  asked: undefined,
  begun: [],
  undoing: false,
  passed: manifest.nodes
    .filter(({ name }) => leadsTo(manifest, name, node))
    .map(({ name, kind, fingerprint }) => ({ node: name, kind, fingerprint })),
  edges: [{ from: START, to: manifest.entry }, ...edgesBefore(manifest, node)],
});
