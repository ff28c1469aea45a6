import { createRequire } from "node:module";
import { parseDefinition } from "../../../infra/local/step-functions/definition.ts";
import type { AslState, StateMachineDefinition, TaskState } from "../../../shared/compile/asl.ts";

// Both packages are CommonJS without usable ESM types.
const require = createRequire(import.meta.url);
const aslValidator = require("asl-validator") as (definition: unknown) => { errorsText: (separator: string) => string };
const { getLanguageService, TextDocument } = require("amazon-states-language-service") as {
  getLanguageService: (parameters: object) => LanguageService;
  TextDocument: { create: (uri: string, language: string, version: number, text: string) => object };
};
interface LanguageService {
  parseJSONDocument: (document: object) => object;
  doValidation: (document: object, json: object) => Promise<{ readonly message: string }[]>;
}
const languageService = getLanguageService({});

/** What the official language service, and the interpreter of this package, have against a definition. */
export async function problemsOf(definition: StateMachineDefinition): Promise<readonly string[]> {
  const text = JSON.stringify(definition, null, 2);
  const document = TextDocument.create("file:///agent.asl.json", "json", 1, text);
  const diagnostics = await languageService.doValidation(document, languageService.parseJSONDocument(document));
  return [...diagnostics.map(({ message }) => `language service: ${message}`), ...interpreterProblems(text)];
}

function interpreterProblems(text: string): readonly string[] {
  try {
    parseDefinition(text.replaceAll(/\$\{(\w+)Arn\}/gu, "arn:aws:lambda:eu-central-1:000000000000:function:$1"));
    return [];
  } catch (error) {
    return [`interpreter: ${String(error)}`];
  }
}

/**
 * What `asl-validator` has against any of these definitions. It compiles its schemas on every call, for most of a second, so they are
 * judged at once: as branches of one Parallel state, each state under the number of its definition.
 */
export function validatorProblems(definitions: readonly StateMachineDefinition[]): readonly string[] {
  const Branches = definitions.map((definition, index) => numbered(definition, index));
  const errors = aslValidator({ StartAt: "All", States: { All: { Type: "Parallel", Branches, End: true } } });
  const text = errors.errorsText("\n");
  return text === "" ? [] : text.split("\n");
}

function numbered(definition: StateMachineDefinition, index: number): object {
  const rename = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(rename);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([key, member]) => [
      key,
      key === "Next" || key === "Default" ? `${index} ${String(member)}` : rename(member),
    ]);
    return Object.fromEntries(entries) as unknown;
  };
  const states = Object.entries(definition.States).map(([name, state]) => [`${index} ${name}`, rename(state)]);
  return { StartAt: `${index} ${definition.StartAt}`, States: Object.fromEntries(states) as unknown };
}

export const tasksOf = (definition: StateMachineDefinition): readonly (readonly [string, TaskState])[] =>
  Object.entries(definition.States).filter((entry): entry is [string, TaskState] => entry[1].Type === "Task");

/** Every state that may follow `state`. */
export function followersOf(state: AslState): readonly string[] {
  switch (state.Type) {
    case "Choice":
      return [...state.Choices.map((choice) => choice.Next), state.Default];
    case "Task":
      return [...(state.Next === undefined ? [] : [state.Next]), ...(state.Catch ?? []).map((catcher) => catcher.Next)];
    case "Pass":
      return [state.Next];
    case "Succeed":
    case "Fail":
      return [];
    default:
      return state satisfies never;
  }
}

/** What must hold for every Task that the compiler writes. Says what does not. */
export function brokenRules(definition: StateMachineDefinition): readonly string[] {
  const payloadNames = new Set(["run_id", "position", "line", "execution", "action", "task_token", "error"]);
  const platformTimeouts = ["States.Timeout", "Sandbox.Timedout"];
  return tasksOf(definition).flatMap(([name, task]) => {
    const retriers = task.Retry ?? [];
    const retried = retriers.flatMap((retrier) => retrier.ErrorEquals);
    const caught = (task.Catch ?? []).flatMap((catcher) => catcher.ErrorEquals);
    const timeouts = retriers.filter((retrier) =>
      retrier.ErrorEquals.some((error) => platformTimeouts.includes(error) || error.startsWith("surefoot.timeout.")),
    );
    const rules: readonly (readonly [boolean, string])[] = [
      [Object.keys(task.Parameters).join() === "FunctionName,Payload", "tells a Lambda more than a payload"],
      [
        Object.keys(task.Parameters.Payload).every((key) => payloadNames.has(key.replace(/\.\$$/u, ""))),
        "carries more than ids",
      ],
      [
        !Object.values(task.Parameters.Payload).some((value) => value === "$" || value === "$$"),
        "carries its whole input",
      ],
      [task.TimeoutSeconds >= 1 && task.TimeoutSeconds <= 99_999_999, "has no timeout"],
      [!retried.includes("States.ALL") && !retried.includes("States.TaskFailed"), "retries whatever comes"],
      [new Set(retried).size === retried.length, "has two retriers for one error"],
      [new Set(caught).size === caught.length, "has two catchers for one error"],
      [timeouts.every((retrier) => retrier.MaxAttempts <= 1), "retries timeouts more than once"],
      [task.ResultPath === null || task.ResultSelector !== undefined, "keeps a Lambda's whole answer"],
    ];
    return rules.filter(([holds]) => !holds).map(([, rule]) => `${name} ${rule}`);
  });
}
