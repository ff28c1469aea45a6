import fc from "fast-check";
import { callback, machine, pass, task } from "./definitions.ts";
import type { StatesOf } from "./history-shape.ts";
import type { Case } from "./interpreters.ts";
import type { Script, Turn } from "./scripted-functions.ts";

/**
 * Small definitions from our subset, and what their functions do. A definition is a chain: every state leads to the next one, a Choice or
 * a catcher may jump ahead, so each ends. It keeps out of `known-deviations.ts`: data stays an object, a Choice tests before it reads,
 * errors of a branch are its own, an answer is never retried and its failure is caught without its cause.
 */
export const generatedCase = (): fc.Arbitrary<Case> =>
  fc
    .record({
      links: fc.array(link, { minLength: 1, maxLength: 5 }),
      last: ending,
      input: fc.record({ k: fc.constantFrom("x", "y"), n: fc.integer() }, { requiredKeys: ["n"] }),
    })
    .map(({ links, last, input }) => ({ ...chainOf("S", links, last), input }));

/** One state of a chain, once its name and its followers are known. */
type Link = (name: string, next: string, ahead: (jump: number) => string) => Part;
interface Part {
  readonly state: object;
  readonly script?: Script;
}

interface Chain {
  readonly definition: StatesOf;
  readonly script: Script;
}

function chainOf(prefix: string, links: readonly Link[], last: object): Chain {
  const nameOf = (index: number): string => `${prefix}${Math.min(index, links.length)}`;
  const parts = links.map((make, index) => make(nameOf(index), nameOf(index + 1), (jump) => nameOf(index + 1 + jump)));
  const states = parts.map((part, index) => [nameOf(index), part.state] as const);
  return {
    definition: machine(nameOf(0), Object.fromEntries([...states, [nameOf(links.length), last]])),
    script: Object.assign({}, ...parts.map((part) => part.script ?? {})) as Script,
  };
}

const names: string[] = ["A", "B", "C"];
const someNames = fc.subarray(names, { minLength: 1 });
const sometimes = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 1 });
const without = (fields: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const ending = fc.oneof(
  { weight: 3, arbitrary: fc.constant<object>({ Type: "Succeed" }) },
  { weight: 2, arbitrary: fc.constant<object>({ Type: "Pass", End: true }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<object>({ Type: "Fail", Error: "E", Cause: "the end" }, { Type: "Fail" }),
  },
);

const retrier = (errorEquals: fc.Arbitrary<string[]>): fc.Arbitrary<object> =>
  fc
    .record({
      ErrorEquals: errorEquals,
      IntervalSeconds: sometimes(fc.integer({ min: 1, max: 4 })),
      MaxAttempts: sometimes(fc.integer({ min: 0, max: 3 })),
      BackoffRate: sometimes(fc.constantFrom(1, 1.5, 2, 3)),
      MaxDelaySeconds: sometimes(fc.integer({ min: 5, max: 9 })),
      JitterStrategy: sometimes(fc.constantFrom("FULL", "NONE")),
    })
    .map(without);

const catcher = (errorEquals: fc.Arbitrary<string[]>, resultPath: fc.Arbitrary<string | null | undefined>) =>
  fc
    .record({ ErrorEquals: errorEquals, ResultPath: resultPath, jump: fc.integer({ min: 0, max: 2 }) })
    .map(({ jump, ...fields }) => ({ jump, fields: without(fields) }));

const wildcard = fc.constantFrom<string[]>(["States.TaskFailed"], ["States.Timeout"], ["States.Timeout", "A"]);
const all = fc.constant<string[]>(["States.ALL"]);
const anyPath = fc.constantFrom("$.failure", null, undefined);

/** Entries in any order, the wildcard last. */
const withAllLast = <T>(entry: (errorEquals: fc.Arbitrary<string[]>) => fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc
    .tuple(fc.array(entry(fc.oneof(someNames, wildcard)), { maxLength: 2 }), sometimes(entry(all)))
    .map(([entries, last]) => (last === undefined ? entries : [...entries, last]));

const returns: Turn = { kind: "return", payload: { v: 1, deep: ["x", null] } };
const failure: fc.Arbitrary<Turn> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...names).map((error): Turn => ({ kind: "throw", error })) },
  { weight: 1, arbitrary: fc.constant<Turn>({ kind: "refuse", exception: "TooManyRequestsException" }) },
);
/** Its calls, one after the other: failures first. */
const turns = (bad: fc.Arbitrary<Turn>): fc.Arbitrary<Turn[]> =>
  fc.array(bad, { maxLength: 4 }).map((before) => [...before, returns, returns, returns, returns]);

type Catchers = readonly { readonly jump: number; readonly fields: object }[];

const recovery = (retry: readonly object[], caught: Catchers, ahead: (jump: number) => string): object => ({
  ...(retry.length > 0 && { Retry: retry }),
  ...(caught.length > 0 && { Catch: caught.map(({ jump, fields }) => ({ ...fields, Next: ahead(jump) })) }),
});

const taskLink = (hangs: boolean): fc.Arbitrary<Link> =>
  fc
    .record({
      retry: withAllLast(retrier),
      caught: withAllLast((errorEquals) => catcher(errorEquals, anyPath)),
      data: fc.constantFrom<object>(
        {},
        { ResultPath: null },
        { ResultPath: "$.k" },
        { ResultSelector: { "got.$": "$.Payload.v" }, ResultPath: "$.r.s" },
        { ResultSelector: { "k.$": "$.Payload.deep[0]" } },
      ),
      calls: turns(hangs ? fc.oneof({ weight: 5, arbitrary: failure }, fc.constant<Turn>({ kind: "hang" })) : failure),
    })
    .map(({ retry, caught, data, calls }) => (name, next, ahead) => ({
      state: task(name, {
        ...data,
        ...(hangs && { TimeoutSeconds: 600 }),
        ...recovery(retry, caught, ahead),
        Next: next,
      }),
      script: { [name]: calls },
    }));

const answer = fc.constantFrom<Turn & { kind: "ask" }>(
  { kind: "ask", when: "before", answer: { kind: "success", output: { k: "x" } } },
  { kind: "ask", when: "after", answer: { kind: "success", output: { k: "y" } } },
  { kind: "ask", when: "before", answer: { kind: "failure", error: "No" } },
  { kind: "ask", when: "after", answer: { kind: "failure", error: "No" } },
  { kind: "ask", when: "after", answer: { kind: "never" } },
);

const callbackLink: fc.Arbitrary<Link> = fc
  .record({
    retry: fc.array(retrier(someNames), { maxLength: 2 }),
    caught: fc.array(
      catcher(fc.constantFrom(["No"], ["A", "No"], ["States.Timeout"], ["States.TaskFailed"]), fc.constant(null)),
      { maxLength: 2 },
    ),
    data: fc.constantFrom<object>({}, { ResultPath: "$.answer" }, { ResultPath: null }),
    before: fc.array(
      fc.constantFrom(...names).map((error): Turn => ({ kind: "throw", error })),
      { maxLength: 2 },
    ),
    answer,
  })
  .map(({ retry, caught, data, before, answer: last }) => (name, next, ahead) => ({
    state: callback(name, { ...data, TimeoutSeconds: 600, ...recovery(retry, caught, ahead), Next: next }),
    script: { [name]: [...before, last] },
  }));

const choiceLink: fc.Arbitrary<Link> = fc
  .record({ value: fc.constantFrom("x", "y"), not: fc.boolean(), jump: fc.integer({ min: 0, max: 2 }) })
  .map(({ value, not, jump }) => (_name, next, ahead) => {
    const rule = {
      And: [
        { Variable: "$.k", IsPresent: true },
        { Variable: "$.k", StringEquals: value },
      ],
    };
    return {
      state: { Type: "Choice", Choices: [{ ...(not ? { Not: rule } : rule), Next: ahead(jump) }], Default: next },
    };
  });

const passLink: fc.Arbitrary<Link> = fc
  .constantFrom<object>(
    {},
    { Result: "y", ResultPath: "$.k" },
    { Result: { k: "x" } },
    { Parameters: { "all.$": "$", "k.$": "$$.State.Name" } },
    { Result: 1, ResultPath: null },
  )
  .map((fields) => (_name, next) => ({ state: pass({ ...fields, Next: next }) }));

const waitLink: fc.Arbitrary<Link> = fc
  .integer({ min: 0, max: 2 })
  .map((seconds) => (_name, next) => ({ state: { Type: "Wait", Seconds: seconds, Next: next } }));

/** Nothing in it fails, so it cannot race another branch to the first failure. */
const calmLink: fc.Arbitrary<Link> = fc.oneof(
  passLink,
  waitLink,
  fc.constant<Link>((name, next) => ({
    state: task(name, { ResultPath: "$.calm", Next: next }),
    // As often as its Parallel is tried.
    script: { [name]: Array.from({ length: 20 }, () => returns) },
  })),
);
const riskyLink: fc.Arbitrary<Link> = fc.oneof(taskLink(false), choiceLink, passLink);
const branchEnd = { Type: "Pass", End: true };

const parallelLink: fc.Arbitrary<Link> = fc
  .record({
    risky: fc.array(riskyLink, { minLength: 1, maxLength: 2 }),
    riskyEnd: ending,
    calm: fc.array(fc.array(calmLink, { minLength: 1, maxLength: 2 }), { maxLength: 2 }),
    riskyFirst: fc.boolean(),
    retry: fc.array(retrier(fc.oneof(someNames, all)), { maxLength: 1 }),
    caught: fc.array(catcher(fc.oneof(someNames, all), anyPath), { maxLength: 1 }),
  })
  .map(({ risky, riskyEnd, calm, riskyFirst, retry, caught }) => (name, next, ahead) => {
    const calmChains = calm.map((links, index) => chainOf(`${name}c${index}.`, links, branchEnd));
    const riskyChain = chainOf(`${name}r.`, risky, riskyEnd);
    const chains = riskyFirst ? [riskyChain, ...calmChains] : [...calmChains, riskyChain];
    return {
      state: {
        Type: "Parallel",
        Branches: chains.map((chain) => chain.definition),
        ResultPath: "$.branches",
        ...recovery(retry, caught, ahead),
        Next: next,
      },
      script: Object.assign({}, ...chains.map((chain) => chain.script)) as Script,
    };
  });

const link: fc.Arbitrary<Link> = fc.oneof(
  { weight: 5, arbitrary: taskLink(false) },
  { weight: 2, arbitrary: taskLink(true) },
  { weight: 2, arbitrary: callbackLink },
  { weight: 2, arbitrary: choiceLink },
  { weight: 1, arbitrary: passLink },
  { weight: 1, arbitrary: waitLink },
  { weight: 3, arbitrary: parallelLink },
);
