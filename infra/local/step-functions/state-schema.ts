import { z } from "zod";
import { KNOWN_STATES_ERRORS } from "./error-names.ts";
import type { Json, JsonObject } from "./json.ts";
import { parsePath } from "./json-path.ts";
import { checkTemplate, pathProblem } from "./payload-template.ts";

/** The service's own upper limit for every number of seconds (Amazon States Language reference). */
const SECONDS_MAX = 99_999_999;
/** Documented: MaxDelaySeconds stays below one year. */
const MAX_DELAY_SECONDS_BELOW = 31_622_400;

const path = z.string().superRefine((source, check) => {
  const problem = pathProblem(source);
  if (problem !== undefined) check.addIssue({ code: "custom", message: problem });
});

/** A path into the state's own data, as ResultPath needs it: the context object cannot be written. */
const referencePath = path.refine((source) => pathProblem(source) !== undefined || parsePath(source).root === "data", {
  error: "expected a path that starts with a single $, found one into the context object",
});

const template = z.custom<JsonObject>(isPlainObject, { error: "expected an object" }).superRefine((value, check) => {
  for (const { at, message } of checkTemplate(value)) check.addIssue({ code: "custom", message, path: [...at] });
});

const json = z.custom<Json>((value) => value !== undefined);
const seconds = z.number().int().min(1).max(SECONDS_MAX);
const target = z.string().min(1);

const reserved: readonly string[] = KNOWN_STATES_ERRORS;
const errorName = z.string().refine((name) => !name.startsWith("States.") || reserved.includes(name), {
  error: (issue) =>
    `expected a name of your own or one of ${reserved.join(", ")}; found ${String(issue.input)}, which never occurs here`,
});
const errorEquals = z
  .array(errorName)
  .min(1)
  .refine((names) => !names.includes("States.ALL") || names.length === 1, {
    error: "expected States.ALL alone in its list",
  });

const retrier = z
  .strictObject({
    Comment: z.string().optional(),
    ErrorEquals: errorEquals,
    IntervalSeconds: seconds.default(1),
    MaxAttempts: z.number().int().min(0).max(SECONDS_MAX).default(3),
    BackoffRate: z.number().min(1).default(2),
    MaxDelaySeconds: z.number().int().min(1).lt(MAX_DELAY_SECONDS_BELOW).optional(),
    JitterStrategy: z.enum(["NONE", "FULL"]).default("NONE"),
  })
  .refine((value) => value.MaxDelaySeconds === undefined || value.MaxDelaySeconds > value.IntervalSeconds, {
    error: "expected more than IntervalSeconds",
    path: ["MaxDelaySeconds"],
  });

const catcher = z.strictObject({
  Comment: z.string().optional(),
  ErrorEquals: errorEquals,
  ResultPath: referencePath.nullable().optional(),
  Next: target,
});

function allComesLast(entries: readonly { ErrorEquals: readonly string[] }[]): boolean {
  return entries.every((entry, index) => !entry.ErrorEquals.includes("States.ALL") || index === entries.length - 1);
}
const lastError = { error: "expected States.ALL only in the last entry" };
const recovery = {
  Retry: z.array(retrier).refine(allComesLast, lastError).default([]),
  Catch: z.array(catcher).refine(allComesLast, lastError).default([]),
};

const common = {
  Comment: z.string().optional(),
  QueryLanguage: z.literal("JSONPath").optional(),
  InputPath: path.nullable().optional(),
  OutputPath: path.nullable().optional(),
};
const transition = { Next: target.optional(), End: z.literal(true).optional() };

function goesSomewhere(state: { Next?: string | undefined; End?: true | undefined }): boolean {
  return (state.Next === undefined) !== (state.End === undefined);
}
const somewhere = { error: "expected either Next or End: true, and not both", path: ["Next"] };

export const INVOKE = "arn:aws:states:::lambda:invoke";
export const INVOKE_AND_WAIT = "arn:aws:states:::lambda:invoke.waitForTaskToken";

const task = z
  .strictObject({
    ...common,
    ...transition,
    ...recovery,
    Type: z.literal("Task"),
    Resource: z.enum([INVOKE, INVOKE_AND_WAIT]),
    Parameters: template,
    ResultSelector: template.optional(),
    ResultPath: referencePath.nullable().optional(),
    TimeoutSeconds: seconds.optional(),
    HeartbeatSeconds: seconds.optional(),
  })
  .refine(goesSomewhere, somewhere);

const pass = z
  .strictObject({
    ...common,
    ...transition,
    Type: z.literal("Pass"),
    Result: json.optional(),
    Parameters: template.optional(),
    ResultPath: referencePath.nullable().optional(),
  })
  .refine(goesSomewhere, somewhere);

const wait = z
  .strictObject({
    ...common,
    ...transition,
    Type: z.literal("Wait"),
    Seconds: z.number().int().min(0).max(SECONDS_MAX).optional(),
    SecondsPath: path.optional(),
  })
  .refine(goesSomewhere, somewhere)
  .refine((state) => (state.Seconds === undefined) !== (state.SecondsPath === undefined), {
    error: "expected either Seconds or SecondsPath",
    path: ["Seconds"],
  });

const parallel = z
  .strictObject({
    ...common,
    ...transition,
    ...recovery,
    Type: z.literal("Parallel"),
    Branches: z.array(z.unknown()).min(1),
    Parameters: template.optional(),
    ResultSelector: template.optional(),
    ResultPath: referencePath.nullable().optional(),
  })
  .refine(goesSomewhere, somewhere);

const succeed = z.strictObject({ ...common, Type: z.literal("Succeed") });
const fail = z.strictObject({
  Comment: z.string().optional(),
  QueryLanguage: z.literal("JSONPath").optional(),
  Type: z.literal("Fail"),
  Error: z.string().optional(),
  Cause: z.string().optional(),
});

export interface ChoiceRule {
  readonly Comment?: string | undefined;
  readonly Variable?: string | undefined;
  readonly StringEquals?: string | undefined;
  readonly IsPresent?: boolean | undefined;
  readonly And?: readonly ChoiceRule[] | undefined;
  readonly Or?: readonly ChoiceRule[] | undefined;
  readonly Not?: ChoiceRule | undefined;
  readonly Next?: string | undefined;
}

const OPERATORS = ["StringEquals", "IsPresent", "And", "Or", "Not"] as const;
const COMPARISONS: readonly string[] = ["StringEquals", "IsPresent"];

const choiceRule: z.ZodType<ChoiceRule> = z
  .strictObject({
    Comment: z.string().optional(),
    Variable: path.optional(),
    StringEquals: z.string().optional(),
    IsPresent: z.boolean().optional(),
    And: z
      .array(z.lazy(() => choiceRule))
      .min(1)
      .optional(),
    Or: z
      .array(z.lazy(() => choiceRule))
      .min(1)
      .optional(),
    Not: z.lazy(() => choiceRule).optional(),
    Next: target.optional(),
  })
  .superRefine((rule, check) => {
    const used = OPERATORS.filter((operator) => rule[operator] !== undefined);
    if (used.length !== 1) {
      check.addIssue({
        code: "custom",
        message: `expected exactly one of ${OPERATORS.join(", ")}; found ${used.join(", ") || "none"}`,
      });
    }
    const compares = used.some((operator) => COMPARISONS.includes(operator));
    if (compares !== (rule.Variable !== undefined)) {
      check.addIssue({
        code: "custom",
        message: "expected Variable beside StringEquals or IsPresent, and only there",
        path: ["Variable"],
      });
    }
  });

const choice = z
  .strictObject({
    ...common,
    Type: z.literal("Choice"),
    Choices: z.array(choiceRule).min(1),
    Default: target.optional(),
  })
  .superRefine((state, check) => {
    state.Choices.forEach((rule, index) => {
      if (rule.Next === undefined)
        check.addIssue({ code: "custom", message: "expected Next", path: ["Choices", index, "Next"] });
      for (const inner of innerRules(rule)) {
        if (inner.Next !== undefined) {
          check.addIssue({
            code: "custom",
            message: "expected Next only in the outermost rule",
            path: ["Choices", index],
          });
        }
      }
    });
  });

function innerRules(rule: ChoiceRule): ChoiceRule[] {
  const inner = [...(rule.And ?? []), ...(rule.Or ?? []), ...(rule.Not === undefined ? [] : [rule.Not])];
  return inner.flatMap((part) => [part, ...innerRules(part)]);
}

function isPlainObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const STATE_SCHEMAS = {
  Choice: choice,
  Task: task,
  Succeed: succeed,
  Fail: fail,
  Pass: pass,
  Wait: wait,
  Parallel: parallel,
} as const;

export type StateType = keyof typeof STATE_SCHEMAS;
export type Retrier = z.infer<typeof retrier>;
export type Catcher = z.infer<typeof catcher>;
export type ChoiceState = z.infer<typeof choice>;
export type TaskState = z.infer<typeof task>;
export type SucceedState = z.infer<typeof succeed>;
export type FailState = z.infer<typeof fail>;
export type PassState = z.infer<typeof pass>;
export type WaitState = z.infer<typeof wait>;
/** A Parallel state whose branches have been read too. */
export type ParallelState = Omit<z.infer<typeof parallel>, "Branches"> & { readonly branches: readonly Branch[] };
export type State = ChoiceState | TaskState | SucceedState | FailState | PassState | WaitState | ParallelState;

export interface Branch {
  readonly startAt: string;
  readonly states: ReadonlyMap<string, State>;
}
