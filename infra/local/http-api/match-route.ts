export interface HttpRoute {
  readonly method: string;
  /** `/runs/{run_id}`: a parameter fills one segment. A last one written `{waiter_id+}` takes the rest of the path, slashes included. */
  readonly path: string;
  readonly functionName: string;
}

export interface RouteMatch {
  readonly route: HttpRoute;
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** Finds the route for a request as API Gateway does: the path is decoded *before* it is cut into segments, so that an encoded slash in it
 *  counts as a slash, and only a greedy parameter can hold one. Among the routes that fit, the most specific wins.
 *  @param path decoded */
export function matchRoute(routes: readonly HttpRoute[], method: string, path: string): RouteMatch | undefined {
  const matches = routes.flatMap((route) => {
    const pathParameters = route.method === method ? fit(segmentsOf(route.path), segmentsOf(path)) : undefined;
    return pathParameters ? [{ route, pathParameters }] : [];
  });
  return matches.sort((a, b) => (specificity(a.route) < specificity(b.route) ? 1 : -1))[0];
}

function segmentsOf(path: string): string[] {
  return path.replace(/^\//, "").split("/");
}

function fit(pattern: readonly string[], path: readonly string[]): Record<string, string> | undefined {
  const parameters: Record<string, string> = {};
  for (const [index, segment] of pattern.entries()) {
    const found = path[index];
    const parameter = parameterOf(segment);
    if (parameter?.greedy) {
      const rest = path.slice(index).join("/");
      return rest === "" ? undefined : { ...parameters, [parameter.name]: rest };
    }
    if (found === undefined || found === "") return undefined;
    if (parameter) parameters[parameter.name] = found;
    else if (segment !== found) return undefined;
  }
  return path.length === pattern.length ? parameters : undefined;
}

function parameterOf(segment: string): { name: string; greedy: boolean } | undefined {
  const [, name, plus] = /^\{([^}+]+)(\+?)\}$/.exec(segment) ?? [];
  return name === undefined ? undefined : { name, greedy: plus === "+" };
}

/** Compares as text, segment by segment: fixed above parameter above greedy. */
function specificity(route: HttpRoute): string {
  return segmentsOf(route.path)
    .map((segment) => {
      const parameter = parameterOf(segment);
      return parameter ? (parameter.greedy ? "0" : "1") : "2";
    })
    .join("");
}
