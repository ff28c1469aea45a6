/** What a person does about a run that is parked, by why it is: commands to copy. */
export const nextMoveAfter = (runId: string, code: string | undefined): string =>
  nextMoves[code ?? ""]?.(runId) ?? `surefoot trace ${runId}; mend the cause, then surefoot resume ${runId}`;

/** What is left to choose where code and run do not fit. */
const nextMoves: Readonly<Record<string, (runId: string) => string>> = {
  version_incompatible: (id) =>
    `choose: surefoot resume ${id} (ends it on its own version), register a migration and surefoot resume ${id} --version <new>, surefoot fork ${id} --at <position>, or surefoot cancel ${id}`,
  version_retired: elsewhere,
  version_missing: elsewhere,
};

function elsewhere(id: string): string {
  return `choose: surefoot versions, then surefoot resume ${id} --version <new>, surefoot fork ${id} --at <position> --version <new>, or surefoot cancel ${id}`;
}
