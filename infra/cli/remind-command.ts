import type { Command } from "commander";
import { z } from "zod";
import { sessionOf } from "./session.ts";

const Reminded = z.object({ approval_id: z.string(), sent: z.array(z.string()) });

export function addRemindCommand(program: Command): void {
  program
    .command("remind <approval_id>")
    .description("tell people again about an approval that waits, with new links")
    .option("--by <name>", "who reminds (default: the user of this shell)", process.env["USER"])
    .action(async (id: string, options: { readonly by?: string }, command: Command) => {
      const { output, api } = sessionOf(command);
      const { body: raw } = await api().post(`/approvals/${encodeURIComponent(id)}/remind`, { by: options.by });
      const { approval_id, sent } = Reminded.parse(raw);
      output.result(raw, () =>
        sent.length === 0
          ? `nobody was told of ${approval_id}: no channel is set up here`
          : `told about ${approval_id} by ${sent.join(", ")}`,
      );
    });
}
