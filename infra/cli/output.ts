import Table from "cli-table3";

/** Where a command writes: results to stdout, progress and warnings to stderr, so that pipes get results only. */
export interface Output {
  readonly json: boolean;
  /** The result: one JSON line with `--json`, else what `human` says. */
  result(value: unknown, human: () => string): void;
  /** What happens on the way. */
  progress(line: string): void;
}

export const createOutput = (json: boolean): Output => ({
  json,
  result: (value, human) => process.stdout.write(`${json ? JSON.stringify(value) : human()}\n`),
  progress: (line) => (json ? process.stderr : process.stdout).write(`${line}\n`),
});

/** A plain table: readable in a terminal, and line by line for grep. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const grid = new Table({
    head: [...head],
    style: { head: [], border: [], compact: true, "padding-left": 0, "padding-right": 2 },
    chars: {
      ...{ top: "", "top-mid": "", "top-left": "", "top-right": "", bottom: "", "bottom-mid": "" },
      ...{ "bottom-left": "", "bottom-right": "", left: "", "left-mid": "", mid: "", "mid-mid": "" },
      ...{ right: "", "right-mid": "", middle: "" },
    },
  });
  grid.push(...rows.map((row) => [...row]));
  return grid.toString().replaceAll(/[ \t]+$/gmu, "");
}
