import { readPath, parsePath, type PathRoots } from "./json-path.ts";
import { PathFailure, StateFailure } from "./state-failure.ts";
import type { ChoiceRule, ChoiceState } from "./state-schema.ts";

/** The first rule that holds decides. @throws StateFailure `States.NoChoiceMatched` without a Default. */
export function chooseNext(name: string, state: ChoiceState, roots: PathRoots): string {
  const rule = state.Choices.find((candidate) => holds(candidate, roots));
  const next = rule?.Next ?? state.Default;
  if (next === undefined) {
    throw new StateFailure(
      "States.NoChoiceMatched",
      `No rule of the Choice state '${name}' matched and it has no Default`,
    );
  }
  return next;
}

/** And / Or stop at the first answer, so that `And: [IsPresent, StringEquals]` guards a missing field. */
function holds(rule: ChoiceRule, roots: PathRoots): boolean {
  if (rule.And !== undefined) return rule.And.every((part) => holds(part, roots));
  if (rule.Or !== undefined) return rule.Or.some((part) => holds(part, roots));
  if (rule.Not !== undefined) return !holds(rule.Not, roots);
  const variable = rule.Variable ?? "$"; // the definition check requires it beside an operator
  const value = readPath(parsePath(variable), roots);
  if (rule.IsPresent !== undefined) return rule.IsPresent === (value !== undefined);
  if (value === undefined) {
    throw new PathFailure(`Invalid path '${variable}': The choice state's condition path references an invalid value.`);
  }
  return value === rule.StringEquals;
}
