import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { contextKeys, contextText } from "../../infra/context.ts";
import { AgentStack } from "../../infra/index.ts";
import spareAgent from "./spare-agent.ts";

/** The stage's stack without the agents that ship. */
const app = new App();
const stage = contextText(app.node, contextKeys.stage, "dev");
new AgentStack(app, `surefoot-${stage}`, {
  stage,
  agents: [{ agent: spareAgent, modulePath: join(import.meta.dirname, "spare-agent.ts") }],
});
