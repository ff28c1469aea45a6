export type ApiFunction = "start" | "read" | "decide" | "control" | "review";

export interface ApiRoute {
  readonly method: "GET" | "POST";
  /** `{name}` stands for one path segment, `{name+}` for the rest: API Gateway decodes before it routes, and a position may hold a slash. */
  readonly path: string;
  readonly functionName: ApiFunction;
  /** Asks nobody who comes: the address itself is the credential. @default false */
  readonly isPublic?: boolean;
}

/** The HTTP API, once: API Gateway and the local server are built from it. */
export const apiRoutes: readonly ApiRoute[] = [
  { method: "POST", path: "/runs", functionName: "start" },
  { method: "GET", path: "/runs", functionName: "read" },
  { method: "GET", path: "/runs/{run_id}", functionName: "read" },
  { method: "GET", path: "/contracts/{digest}", functionName: "read" },
  { method: "GET", path: "/releases", functionName: "read" },
  { method: "GET", path: "/operations", functionName: "read" },
  { method: "GET", path: "/approvals", functionName: "read" },
  { method: "GET", path: "/approvals/{waiter_id+}", functionName: "read" },
  { method: "POST", path: "/approvals/{waiter_id+}", functionName: "decide" },
  // No log holds a path: only routes are logged, by their key.
  { method: "GET", path: "/review/{token}", functionName: "review", isPublic: true },
  { method: "POST", path: "/review/{token}", functionName: "review", isPublic: true },
  { method: "POST", path: "/operations/{operation_id}/resolution", functionName: "control" },
  { method: "POST", path: "/runs/{run_id}/resume", functionName: "control" },
  { method: "POST", path: "/runs/{run_id}/cancel", functionName: "control" },
  { method: "POST", path: "/runs/{run_id}/fork", functionName: "control" },
  { method: "POST", path: "/releases/{agent}/{version}/retirement", functionName: "control" },
];
