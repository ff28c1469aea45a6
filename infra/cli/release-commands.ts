import type { Command } from "commander";
import { describeRetired, describeVersions } from "./describe-versions.ts";
import { RetiredVersion, Versions } from "./release-shapes.ts";
import { queryOf, sessionOf, wholeNumber } from "./session.ts";

/** Largest version that a release has. */
const versionMax = 9_999_999_999;

/** Which versions there are, and the end of one. */
export function addReleaseCommands(program: Command): void {
  program
    .command("versions [agent]")
    .description("list deployed versions, and the open runs that still need them")
    .action(async (agent: string | undefined, _options: unknown, command: Command) => {
      const { output, api } = sessionOf(command);
      const raw = await api().get(`/releases${queryOf({ agent })}`);
      output.result(raw, () => describeVersions(Versions.parse(raw)));
    });
  program
    .command("retire <agent> <version>")
    .description("let nothing of a version go on by itself: its runs are moved, forked or cancelled")
    .requiredOption("--reason <text>", "why, for whoever meets one of its runs; kept with each")
    .option("--by <name>", "who retires it (default: the user of this shell)", process.env["USER"])
    .action(
      async (
        agent: string,
        version: string,
        options: { readonly reason: string; readonly by?: string },
        command: Command,
      ) => {
        const { output, api } = sessionOf(command);
        const number = wholeNumber("version", version, 1, versionMax);
        const path = `/releases/${encodeURIComponent(agent)}/${number}/retirement`;
        const { body: raw } = await api().post(path, { by: options.by, reason: options.reason });
        output.result(raw, () => describeRetired(RetiredVersion.parse(raw)));
      },
    );
}
