import type { JsonObject } from "./json.ts";
import { parsePath, type JsonPath } from "./json-path.ts";
import { templatePaths } from "./payload-template.ts";
import type { ChoiceRule } from "./state-schema.ts";

/** The context object's fields that exist here. A path to any other would fail at run time, so it is refused at once. */
const CONTEXT_FIELDS: Readonly<Record<string, readonly string[]>> = {
  Execution: ["Id", "Input", "Name", "RedriveCount", "RoleArn", "StartTime"],
  State: ["EnteredTime", "Name", "RetryCount"],
  StateMachine: ["Id", "Name"],
  Task: ["Token"],
};

interface StateWithPaths {
  readonly InputPath?: string | null | undefined;
  readonly OutputPath?: string | null | undefined;
  readonly SecondsPath?: string | undefined;
  readonly Parameters?: JsonObject | undefined;
  readonly ResultSelector?: JsonObject | undefined;
  readonly Choices?: readonly ChoiceRule[] | undefined;
}

interface FieldPath {
  readonly field: string;
  readonly path: JsonPath;
}

/** Problems of the context paths in one state. `tokenAllowed`: a callback Task, whose Parameters must carry the token. */
export function checkPaths(state: object, tokenAllowed: boolean): { field: string; message: string }[] {
  const parameters = pathsOfTemplate("Parameters", (state as StateWithPaths).Parameters);
  const others = otherPaths(state);
  const problems = [...parameters, ...others].flatMap(({ field, path }) => {
    const message = contextProblem(path);
    return message === undefined ? [] : [{ field, message }];
  });
  const misplaced = tokenAllowed ? others : [...parameters, ...others];
  for (const { field } of misplaced.filter(({ path }) => readsToken(path))) {
    problems.push({ field, message: "expected $$.Task.Token only in the Parameters of a .waitForTaskToken Task" });
  }
  if (tokenAllowed && !parameters.some(({ path }) => readsToken(path))) {
    problems.push({
      field: "Parameters",
      message: "expected a field that passes $$.Task.Token on: without it nobody could answer",
    });
  }
  return problems;
}

function otherPaths(state: StateWithPaths): FieldPath[] {
  const single = (["InputPath", "OutputPath", "SecondsPath"] as const).flatMap((field) => {
    const source = state[field];
    return typeof source === "string" ? [{ field, path: parsePath(source) }] : [];
  });
  const selector = pathsOfTemplate("ResultSelector", state.ResultSelector);
  const variables = (state.Choices ?? []).flatMap((rule, index) => variablesOf(rule, `Choices[${index}]`));
  return [...single, ...selector, ...variables];
}

function pathsOfTemplate(field: string, template: JsonObject | undefined): FieldPath[] {
  if (template === undefined) return [];
  return templatePaths(template).map(({ at, path }) => ({ field: [field, ...at].join("."), path }));
}

function variablesOf(rule: ChoiceRule, field: string): FieldPath[] {
  const own = rule.Variable === undefined ? [] : [{ field: `${field}.Variable`, path: parsePath(rule.Variable) }];
  const inner = [...(rule.And ?? []), ...(rule.Or ?? []), ...(rule.Not === undefined ? [] : [rule.Not])];
  return [...own, ...inner.flatMap((part) => variablesOf(part, field))];
}

function readsToken(path: JsonPath): boolean {
  return path.root === "context" && path.steps[0] === "Task";
}

function contextProblem(path: JsonPath): string | undefined {
  if (path.root === "data" || path.steps.length === 0) return undefined;
  const [area, field] = path.steps;
  const fields = CONTEXT_FIELDS[String(area)];
  const known = fields !== undefined && (field === undefined || fields.includes(String(field)));
  if (known) return undefined;
  const expected = Object.entries(CONTEXT_FIELDS).flatMap(([name, names]) => names.map((one) => `$$.${name}.${one}`));
  return `expected one of ${expected.join(", ")}; found ${path.source}`;
}
