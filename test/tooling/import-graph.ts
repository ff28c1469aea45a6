import { posix } from "node:path";
import ts from "typescript";

/** Source text by its path below the checkout, so that a test can make up a tree. */
export type SourceTree = ReadonlyMap<string, string>;
/** For each file what it imports: a path below the checkout where it is ours, else the bare specifier. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** @param ownNames what the package calls its own entry files, e.g. `surefoot/local` → `infra/local/index.ts`. */
export function importGraph(tree: SourceTree, ownNames: ReadonlyMap<string, string> = new Map()): ImportGraph {
  const graph = new Map<string, readonly string[]>();
  for (const [path, text] of tree) {
    const targets = specifiersIn(path, text).map((specifier) =>
      specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : (ownNames.get(specifier) ?? specifier),
    );
    graph.set(path, [...new Set(targets)]);
  }
  return graph;
}

/** The package's own entry points as package.json publishes them, led back from `dist` to the source. */
export function ownEntryNames(packageJson: string): Map<string, string> {
  const { name, exports } = JSON.parse(packageJson) as { name: string; exports: Record<string, { default: string }> };
  return new Map(
    Object.entries(exports).map(([subpath, target]) => [
      posix.join(name, subpath),
      target.default.replace("./dist/", "").replace(/\.js$/, ".ts"),
    ]),
  );
}

/** Static, re-exporting, dynamic and type imports alike: a type that points upward is an upward arrow too. */
function specifiersIn(path: string, text: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const specifier = specifierOf(node);
    if (specifier && ts.isStringLiteralLike(specifier)) found.push(specifier.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.ES2023));
  return found;
}

function specifierOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal;
  const isDynamicImport = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
  return isDynamicImport ? node.arguments[0] : undefined;
}
