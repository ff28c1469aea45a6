import { extname, join } from "node:path";
import { App } from "aws-cdk-lib";
import refundAgent from "../lambdas/agents/refund-agent/agent.ts";
import { AgentStack } from "./agent-stack.ts";
import { apiAuthFromContext } from "./api-auth.ts";
import { contextKeys, contextMap, contextOption, contextText } from "./context.ts";

/** The shipped stack. Without an account or region: it synthesises anywhere, and goes where the caller's credentials point. */
const app = new App();
const extension = extname(import.meta.filename);
const stage = contextText(app.node, contextKeys.stage, "dev");

new AgentStack(app, `surefoot-${stage}`, {
  stage,
  auth: apiAuthFromContext(app.node),
  ...contextOption(app.node, contextKeys.publicUrl, "publicUrl"),
  notices: {
    approvers: contextMap(app.node, contextKeys.approvers),
    ...contextOption(app.node, contextKeys.eventBus, "eventBusName"),
    ...contextOption(app.node, contextKeys.webhookSecret, "webhookSecretName"),
    ...contextOption(app.node, contextKeys.webhookApprover, "webhookApprover"),
  },
  agents: [
    {
      agent: refundAgent,
      modulePath: join(import.meta.dirname, `../lambdas/agents/refund-agent/agent${extension}`),
      environment: contextMap(app.node, contextKeys.environment),
      secrets: contextMap(app.node, contextKeys.secrets),
    },
  ],
});
