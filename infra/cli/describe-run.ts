import { Adoption, ADOPTION } from "../../shared/runlog/adoption.ts";
import type { Operation, Run } from "./api-shapes.ts";
import { table } from "./output.ts";

/** A run for the person at 3 a.m.: what happened, what is unknown, what to do next. */
export function describeRun(run: Run): string {
  return [
    `${run.run_id}  ${run.status}${run.outcome === undefined ? "" : ` (${run.outcome})`}${compensated(run)}`,
    ...(run.forked_from
      ? [
          `${run.simulated ? "simulated: nothing of it reached the outside; " : ""}forked from ${run.forked_from.run_id} at ${run.forked_from.at}`,
        ]
      : []),
    `${run.agent} version ${run.workflow_version}, workflow ${run.workflow_id}, started ${run.created_at}`,
    "",
    table(
      ["POSITION", "KIND", "OUTCOME", "NEXT", "AT"],
      run.steps.map((step) => [step.position, step.kind, outcomeOf(step), step.next, clockOf(step.created_at)]),
    ),
    ...section("Operations", run.operations.length > 0, () => describeOperations(run.operations)),
    ...section("Compensation", run.compensation !== undefined, () => describeCompensation(run)),
    ...section("Failed attempts", run.failures.length > 0, () =>
      table(
        ["POSITION", "ATTEMPTS", "CODE", "LAST", "MESSAGE"],
        run.failures.map((failure) => [
          failure.position,
          String(failure.attempts),
          failure.error.code,
          clockOf(failure.updated_at),
          failure.error.message,
        ]),
      ),
    ),
    "",
    ...nextMoves(run),
  ].join("\n");
}

export const describeOperations = (operations: readonly Operation[]): string =>
  table(
    ["OPERATION", "ACTION", "KEY", "STATUS", "ATTEMPT", "REFERENCE"],
    operations.map((operation) => [
      operation.operation_id,
      operation.action_name,
      operation.business_key,
      operation.contradictions?.length ? `${operation.status} (contradicted)` : operation.status,
      String(operation.attempt),
      operation.external_ref ?? "-",
    ]),
  );

/** Beside the run's status: what it did is undone, or was. */
function compensated({ compensation }: Run): string {
  if (!compensation) return "";
  const { compensating, because, ends } = compensation;
  return compensating ? `, being compensated (${because}), then ${ends.status}` : ", compensated";
}

/** Which operation undoes which, in the order in which it is done. What was begun and why stands above. */
function describeCompensation({ compensation, operations }: Run): string {
  const failure = compensation?.ends.failure;
  const why = failure ? `${failure.node}: ${failure.error.message}` : (compensation?.because ?? "");
  const undoing = operations
    .filter((operation) => operation.compensates !== undefined)
    .sort((a, b) => b.position.localeCompare(a.position));
  const rows = undoing.map((operation) => {
    const undone = operations.find((candidate) => candidate.operation_id === operation.compensates);
    return [undone ? named(undone) : (operation.compensates ?? "-"), operation.action_name, operation.status];
  });
  return [`Because: ${why}`, ...(rows.length > 0 ? [table(["UNDOES", "BY", "STATUS"], rows)] : [])].join("\n");
}

const section = (title: string, shown: boolean, body: () => string): readonly string[] =>
  shown ? ["", title, body()] : [];

const clockOf = (iso: string): string => iso.slice(0, 19).replace("T", " ");

function outcomeOf(step: Run["steps"][number]): string {
  if (step.kind === ADOPTION) {
    const adopted = Adoption.safeParse(step.output).data;
    return adopted
      ? `version ${adopted.from.workflow_version} → ${adopted.to.workflow_version} (${adopted.verdict})`
      : step.outcome;
  }
  if (step.kind !== "approval") return step.simulated ? `${step.outcome} (simulated)` : step.outcome;
  const { outcome, by } = step.output as { readonly outcome?: string; readonly by?: string };
  return by === undefined ? (outcome ?? step.outcome) : `${outcome ?? ""} by ${by}`;
}

/** What to do now, most urgent first. */
function nextMoves(run: Run): readonly string[] {
  const unknown = run.operations.filter((operation) => operation.status === "UNKNOWN");
  const open = run.waiters.filter(
    (waiter) => waiter.kind === "approval" && waiter.status === "OPEN" && run.status === "WAITING" && !run.retired,
  );
  const moves = [
    ...(run.retired && openStatuses.includes(run.status) ? [retired(run)] : []),
    ...run.operations.filter((operation) => operation.contradictions?.length).map(contradicted),
    ...unknown.map(doubted),
    ...(run.failure && unknown.length === 0
      ? [`${run.failure.node}: ${run.failure.error.message}`, `Next: ${run.failure.next_move}`]
      : []),
    ...open.map(
      (waiter) =>
        `Waits for a person: surefoot approve ${waiter.waiter_id} --by <you> (until ${clockOf(waiter.expires_at)})`,
    ),
    ...run.operations.filter((operation) => operation.status === "STARTED").map(started),
  ];
  return moves.length > 0 ? moves : [run.status === "RUNNING" ? "Running: nothing to do." : "Nothing to do."];
}

const openStatuses: readonly string[] = ["RUNNING", "WAITING", "PARKED"];

const retired = ({ run_id, workflow_version, retired: why }: Run): string =>
  `RETIRED: version ${workflow_version} was retired by ${why?.by ?? "-"} (${why?.reason ?? "-"}), and nothing of this run goes on there: surefoot resume ${run_id} --version <n>, fork, or cancel.`;

const named = ({ action_name, business_key }: Operation): string => `${action_name} for ${business_key}`;

const contradicted = (operation: Operation): string =>
  `CONTRADICTED: ${named(operation)} succeeded although it was ${operation.contradictions?.[0]?.status_then ?? "decided otherwise"}. Look for ${operation.operation_id} on the other side: it may be there twice.`;

const doubted = (operation: Operation): string =>
  `UNKNOWN: ${named(operation)} may or may not have happened (${operation.error?.message ?? "no answer"}). Look for ${operation.operation_id} on the other side, then surefoot resolve ${operation.operation_id} --outcome succeeded|failed|retry --evidence "…".`;

const started = (operation: Operation): string =>
  `STARTED: ${named(operation)} was sent or is about to be${operation.lease_until === undefined ? "" : `; nobody else tries before ${clockOf(operation.lease_until)}`}.`;
