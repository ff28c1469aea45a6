import { posix } from "node:path";
import type { ImportGraph } from "./import-graph.ts";

/** Each folder may import itself and what stands before it. */
const layers = ["shared", "lambdas", "infra", "test"];
const adapterFile = /^(dynamo|eventbridge|lambda|s3|secrets|sfn|sns|sqs)-/;
const barrel = "shared/index.ts";

/** Imports that point from a lower layer to a higher one. */
export function upwardArrows(graph: ImportGraph): string[] {
  return arrows(graph)
    .filter(([from, to]) => {
      const target = layers.indexOf(layerOf(to));
      return target !== -1 && target > layers.indexOf(layerOf(from));
    })
    .map(describe);
}

/** AWS SDK imports in `shared` outside the adapters, which are named after the service they speak to. */
export function sdkOutsideAdapters(graph: ImportGraph): string[] {
  return arrows(graph)
    .filter(([from, to]) => layerOf(from) === "shared" && to.startsWith("@aws-sdk/"))
    .filter(([from]) => !adapterFile.test(posix.basename(from)))
    .map(describe);
}

/** Files in `shared` that import the public surface they are part of. */
export function barrelFromInside(graph: ImportGraph): string[] {
  return arrows(graph)
    .filter(([from, to]) => layerOf(from) === "shared" && to === barrel)
    .map(describe);
}

/** Every import cycle a depth-first walk closes, as `a → b → a`. Empty exactly when the graph has none. */
export function cycles(graph: ImportGraph): string[] {
  const found: string[] = [];
  const finished = new Set<string>();
  const trail: string[] = [];
  const visit = (file: string): void => {
    const startedAt = trail.indexOf(file);
    if (startedAt !== -1) {
      found.push([...trail.slice(startedAt), file].join(" → "));
      return;
    }
    if (finished.has(file)) return;
    trail.push(file);
    for (const target of graph.get(file) ?? []) visit(target);
    trail.pop();
    finished.add(file);
  };
  for (const file of graph.keys()) visit(file);
  return found;
}

function arrows(graph: ImportGraph): [from: string, to: string][] {
  return [...graph].flatMap(([from, targets]) => targets.map((to): [string, string] => [from, to]));
}

function layerOf(path: string): string {
  return path.split("/", 1)[0] ?? "";
}

function describe([from, to]: [from: string, to: string]): string {
  return `${from} imports ${to}`;
}
