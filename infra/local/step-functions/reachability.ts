import type { Branch, State } from "./state-schema.ts";

export interface TransitionTarget {
  readonly field: string;
  readonly target: string;
}

/** Every state that may follow this one, with the field that says so. */
export function targetsOf(state: State): TransitionTarget[] {
  switch (state.Type) {
    case "Succeed":
    case "Fail":
      return [];
    case "Choice":
      return [
        ...state.Choices.map((rule, index) => ({ field: `Choices[${index}].Next`, target: rule.Next ?? "" })),
        ...named("Default", state.Default),
      ];
    case "Pass":
    case "Wait":
      return named("Next", state.Next);
    case "Task":
    case "Parallel":
      return [
        ...named("Next", state.Next),
        ...state.Catch.map((catcher, index) => ({ field: `Catch[${index}].Next`, target: catcher.Next })),
      ];
    default:
      return state satisfies never;
  }
}

/** The service refuses a definition with a state that nothing leads to. */
export function unreachableStates(branch: Branch): string[] {
  const reached = new Set<string>([branch.startAt]);
  for (const name of reached) {
    const state = branch.states.get(name);
    for (const { target } of state === undefined ? [] : targetsOf(state)) reached.add(target);
  }
  return [...branch.states.keys()].filter((name) => !reached.has(name));
}

function named(field: string, target: string | undefined): TransitionTarget[] {
  return target === undefined ? [] : [{ field, target }];
}
