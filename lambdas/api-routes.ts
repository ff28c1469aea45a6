export type ApiFunction = "start" | "read" | "decide" | "control";

export interface ApiRoute {
  readonly method: "GET" | "POST";
  /** `{name}` stands for one path segment, `{name+}` for the rest: API Gateway decodes before it routes, and a position may hold a slash. */
  readonly path: string;
  readonly functionName: ApiFunction;
}

/** The HTTP API, once: API Gateway and the local server are built from it. */
export const apiRoutes: readonly ApiRoute[] = [
  { method: "POST", path: "/runs", functionName: "start" },
  { method: "GET", path: "/runs", functionName: "read" },
  { method: "GET", path: "/runs/{run_id}", functionName: "read" },
  { method: "GET", path: "/contracts/{digest}", functionName: "read" },
  { method: "GET", path: "/operations", functionName: "read" },
  { method: "GET", path: "/approvals", functionName: "read" },
  { method: "GET", path: "/approvals/{waiter_id+}", functionName: "read" },
  { method: "POST", path: "/approvals/{waiter_id+}", functionName: "decide" },
  { method: "POST", path: "/operations/{operation_id}/resolution", functionName: "control" },
  { method: "POST", path: "/runs/{run_id}/resume", functionName: "control" },
  { method: "POST", path: "/runs/{run_id}/cancel", functionName: "control" },
];
