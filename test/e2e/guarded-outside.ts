import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outsideNames } from "./agents/guarded-outside.ts";

/** What the outside of some transfers is; what is left out is as usual. */
export type GuardedSides = Readonly<
  Record<string, { readonly status?: string; readonly limitCents?: number; readonly driftCents?: number }>
>;

/** The other side of `guarded-transfer`, in files. */
export interface GuardedOutside {
  readonly environment: Readonly<Record<string, string>>;
  /** Changes the world under whatever was decided. */
  change(sides: GuardedSides): void;
  /** What reached the other side for one transfer: its name and its cents, a line each. */
  effects(name: string): readonly string[];
  remove(): void;
}

export function guardedOutside(): GuardedOutside {
  const folder = mkdtempSync(join(tmpdir(), "surefoot-outside-"));
  const [world, effects] = [join(folder, "world.json"), join(folder, "effects")];
  const change = (sides: GuardedSides) => writeFileSync(world, JSON.stringify(sides));
  change({});
  return {
    environment: { [outsideNames.world]: world, [outsideNames.effects]: effects },
    change,
    effects: (name) =>
      existsSync(effects)
        ? readFileSync(effects, "utf8")
            .split("\n")
            .filter((line) => line.startsWith(`${name} `))
        : [],
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
