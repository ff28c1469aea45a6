import { z } from "zod";
import { targetsOf, unreachableStates } from "./reachability.ts";
import { checkPaths } from "./path-scope.ts";
import {
  INVOKE_AND_WAIT,
  STATE_SCHEMAS,
  type Branch,
  type ParallelState,
  type State,
  type StateType,
  type TaskState,
} from "./state-schema.ts";

export interface Definition extends Branch {
  readonly timeoutSeconds: number | undefined;
}

/** Says every problem at once, each with its state and field. */
export class DefinitionError extends Error {
  override readonly name = "DefinitionError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`the state machine definition cannot be run: ${problems.join("; ")}`);
    this.problems = problems;
  }
}

/** The service's documented limit for one state's name. */
const STATE_NAME_LENGTH_MAX = 80;

const branchShell = z.strictObject({
  Comment: z.string().optional(),
  QueryLanguage: z.literal("JSONPath").optional(),
  StartAt: z.string(),
  States: z.record(z.string(), z.unknown()),
});
const machineShell = branchShell.extend({
  Version: z.literal("1.0").optional(),
  TimeoutSeconds: z.number().int().min(1).max(99_999_999).optional(),
});

/** Reads a definition of the supported subset, given as text or as the parsed object.
 *  @throws DefinitionError for anything outside it: nothing is skipped silently. */
export function parseDefinition(source: unknown): Definition {
  const reader = new DefinitionReader();
  const definition = reader.machine(typeof source === "string" ? parseText(source) : source);
  if (reader.problems.length > 0 || definition === undefined) throw new DefinitionError(reader.problems);
  return definition;
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new DefinitionError([`expected JSON, found: ${String(thrown)}`]);
  }
}

class DefinitionReader {
  readonly problems: string[] = [];
  readonly #names = new Set<string>();

  machine(source: unknown): Definition | undefined {
    const shell = this.#parse(machineShell, source, "the definition");
    return shell && { ...this.#branch(shell), timeoutSeconds: shell.TimeoutSeconds };
  }

  #branch(shell: z.infer<typeof branchShell>): Branch {
    const states = new Map<string, State>();
    for (const [name, source] of Object.entries(shell.States)) {
      this.#checkName(name);
      const state = this.#state(name, source);
      if (state === undefined) continue;
      states.set(name, state);
      this.#checkTargets(name, state, shell.States);
    }
    if (!Object.hasOwn(shell.States, shell.StartAt)) {
      this.problems.push(
        `StartAt: expected one of ${Object.keys(shell.States).join(", ") || "(no states)"}; found ${shell.StartAt}`,
      );
    }
    const branch = { startAt: shell.StartAt, states };
    if (this.problems.length === 0) {
      for (const name of unreachableStates(branch))
        this.problems.push(`state ${name}: no transition leads here; remove it or point a Next at it`);
    }
    return branch;
  }

  #state(name: string, source: unknown): State | undefined {
    const type = z.object({ Type: z.string() }).safeParse(source).data?.Type;
    if (type === undefined || !isStateType(type)) {
      this.problems.push(
        `state ${name}, field Type: expected one of ${Object.keys(STATE_SCHEMAS).join(", ")}; found ${type ?? "none"}`,
      );
      return undefined;
    }
    if (type === "Parallel") return this.#parallel(name, source);
    const state: State | undefined = this.#parse(STATE_SCHEMAS[type] as z.ZodType<State>, source, `state ${name}`);
    if (state === undefined) return undefined;
    if (state.Type === "Task") this.#checkTask(name, state);
    const tokenAllowed = state.Type === "Task" && state.Resource === INVOKE_AND_WAIT;
    this.#report(name, checkPaths(state, tokenAllowed));
    return state;
  }

  #parallel(name: string, source: unknown): ParallelState | undefined {
    const shell = this.#parse(STATE_SCHEMAS.Parallel, source, `state ${name}`);
    if (shell === undefined) return undefined;
    const { Branches, ...state } = shell;
    this.#report(name, checkPaths(state, false));
    const branches = Branches.flatMap((branch, index) => {
      const parsed = this.#parse(branchShell, branch, `state ${name}, field Branches[${index}]`);
      return parsed === undefined ? [] : [this.#branch(parsed)];
    });
    return { ...state, branches };
  }

  #checkTask(name: string, state: TaskState): void {
    const problems: { field: string; message: string }[] = [];
    const allowed = ["FunctionName", "FunctionName.$", "Payload", "Payload.$"];
    for (const key of Object.keys(state.Parameters)) {
      if (!allowed.includes(key))
        problems.push({ field: `Parameters.${key}`, message: `expected only ${allowed.join(", ")}` });
    }
    const functionName = state.Parameters["FunctionName"];
    const named = typeof functionName === "string" ? functionName !== "" : "FunctionName.$" in state.Parameters;
    if (!named) problems.push({ field: "Parameters.FunctionName", message: "expected the function's name or ARN" });
    if (typeof functionName === "string" && functionName.includes("${")) {
      problems.push({
        field: "Parameters.FunctionName",
        message: `expected a function, found the placeholder ${functionName}: substitute it before the state machine is created`,
      });
    }
    if (state.HeartbeatSeconds !== undefined) {
      if (state.Resource !== INVOKE_AND_WAIT) {
        problems.push({
          field: "HeartbeatSeconds",
          message: `expected only beside ${INVOKE_AND_WAIT}: nothing else can send a heartbeat`,
        });
      } else if (state.TimeoutSeconds !== undefined && state.HeartbeatSeconds >= state.TimeoutSeconds) {
        problems.push({
          field: "HeartbeatSeconds",
          message: `expected less than TimeoutSeconds ${state.TimeoutSeconds}, found ${state.HeartbeatSeconds}`,
        });
      }
    }
    this.#report(name, problems);
  }

  #checkName(name: string): void {
    if (name.length === 0 || name.length > STATE_NAME_LENGTH_MAX) {
      this.problems.push(
        `state ${name}: expected a name of 1 to ${STATE_NAME_LENGTH_MAX} characters, found ${name.length}`,
      );
    }
    if (this.#names.has(name)) this.problems.push(`state ${name}: expected a name that is unique across all branches`);
    this.#names.add(name);
  }

  #checkTargets(name: string, state: State, states: Readonly<Record<string, unknown>>): void {
    for (const { field, target } of targetsOf(state)) {
      if (!Object.hasOwn(states, target)) {
        this.problems.push(`state ${name}, field ${field}: expected a state of the same branch, found ${target}`);
      }
    }
  }

  #report(name: string, problems: readonly { field: string; message: string }[]): void {
    for (const { field, message } of problems) this.problems.push(`state ${name}, field ${field}: ${message}`);
  }

  #parse<T>(schema: z.ZodType<T>, source: unknown, where: string): T | undefined {
    const result = schema.safeParse(source);
    if (result.success) return result.data;
    this.problems.push(...result.error.issues.flatMap((issue) => describeIssue(issue, where)));
    return undefined;
  }
}

function describeIssue(issue: z.core.$ZodIssue, where: string): string[] {
  const at = fieldPath(issue.path);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map(
      (key) => `${where}, field ${at === "" ? key : `${at}.${key}`}: not supported here; remove it`,
    );
  }
  return [`${where}${at === "" ? "" : `, field ${at}`}: ${issue.message}`];
}

function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? String(step) : `${text}.${String(step)}`;
  }, "");
}

function isStateType(type: string): type is StateType {
  return Object.hasOwn(STATE_SCHEMAS, type);
}
