// Runs the demo as a newcomer would and holds its last line to what the README promises: one refund, one mail, a run that ended well.
import { spawnSync } from "node:child_process";

const expected = { status: "SUCCEEDED", "effects.refunds": 1, "effects.emails": 1 };

const demo = spawnSync("npm", ["run", "--silent", "demo", "--", "--json"], {
  encoding: "utf8",
  stdio: ["ignore", "pipe", "inherit"],
});
process.stdout.write(demo.stdout ?? "");
if (demo.status !== 0) fail(`it ended with ${demo.error?.message ?? `exit code ${demo.status ?? demo.signal}`}`);

const lastLine = demo.stdout.trimEnd().split("\n").at(-1) ?? "";
const summary = parse(lastLine);
for (const [field, value] of Object.entries(expected)) {
  const found = field.split(".").reduce((within, name) => within?.[name], summary);
  if (found !== value) {
    fail(`its last line must have ${field} = ${JSON.stringify(value)}, found ${JSON.stringify(found)}`);
  }
}

function parse(line) {
  try {
    const value = JSON.parse(line);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Reported below, with the line.
  }
  return fail(`its last line must be a JSON object, found: ${line.slice(0, 200) || "(nothing)"}`);
}

function fail(why) {
  console.log(`The demo is not as promised: ${why}.`);
  process.exit(1);
}
