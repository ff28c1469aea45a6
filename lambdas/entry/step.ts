import agents from "surefoot:agents";
import { aiSdkModels } from "../adapters/ai-sdk-models.ts";
import { envNames, readModelSettings, SettingsError } from "../env.ts";
import { createStepHandler } from "../step/step-handler.ts";
import { wire } from "../wiring.ts";

const name = process.env[envNames.agent];
const agent = agents.find((candidate) => name === undefined || candidate.name === name);
if (!agent)
  throw new SettingsError(
    `this bundle has no agent "${name ?? ""}": it has ${agents.map((candidate) => candidate.name).join(", ")}`,
  );

export const handler = createStepHandler(agent, {
  ...wire(`surefoot-step-${agent.name}`, process.env),
  models: aiSdkModels(readModelSettings(process.env)),
  // The runtime reports a dead process to the state machine, which starts another one.
  endProcess: () => process.exit(1),
});
