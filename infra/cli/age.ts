import { CliError } from "./cli-error.ts";

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `90m`, `2h` or `3d` in milliseconds. @throws CliError 2 that names the option. */
export function ageMs(option: string, text: string): number {
  const [, number, unit] = /^(\d{1,6})([mhd])$/u.exec(text) ?? [];
  if (number !== undefined && unit !== undefined) return Number(number) * unitMs[unit as keyof typeof unitMs];
  throw new CliError(2, "bad_age", `${option}: expected an age like 90m, 2h or 3d, found "${text}"`);
}
