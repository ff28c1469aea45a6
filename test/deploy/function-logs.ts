import { z } from "zod";
import type { Emulator } from "./emulator.ts";
import { callService } from "./signed-request.ts";

const Groups = z.object({ logGroups: z.array(z.object({ logGroupName: z.string() })) });
const Events = z.object({ events: z.array(z.object({ message: z.string() })) });

/** Every line on which a function of the stack says that something went wrong: `group  line`. */
export async function errorLines(emulator: Emulator, stackName: string): Promise<readonly string[]> {
  const ask = (operation: string, input: unknown) => callService(emulator, "logs", `Logs_20140328.${operation}`, input);
  const { logGroups } = Groups.parse(await ask("DescribeLogGroups", {}));
  const groups = logGroups.map(({ logGroupName }) => logGroupName).filter((name) => name.includes(`/${stackName}/`));
  const lines = await Promise.all(
    groups.map(async (logGroupName) => {
      const { events } = Events.parse(await ask("FilterLogEvents", { logGroupName }));
      return events.map(({ message }) => `${logGroupName}  ${message}`);
    }),
  );
  return lines.flat().filter((line) => /"level":"(?:ERROR|CRITICAL)"|errorType|Task timed out/u.test(line));
}
