import type { ApiClient } from "../../../infra/cli/api-client.ts";
import type { Run } from "../../../infra/cli/api-shapes.ts";
import type { RefundWorld } from "../../../infra/local/refund-world.ts";
import { mailEffects } from "../../e2e/stage.ts";
import { mailOf } from "./judge-runs.ts";
import { unlessDead } from "./unless-dead.ts";

/** An operator who looks at the mail server before saying anything, and resumes what stopped for another reason. */
export async function helpRun(run: Run, world: RefundWorld, api: ApiClient): Promise<void> {
  if (run.status !== "PARKED") return;
  const mail = mailOf(run);
  if (mail?.status !== "UNKNOWN") {
    await unlessDead(() => api.post(`/runs/${encodeURIComponent(run.run_id)}/resume`, { by: "an operator" }));
    return;
  }
  const { messages } = await mailEffects(world);
  const sent = messages.find(({ operation_id }) => operation_id === mail.operation_id);
  const word = sent ? { outcome: "succeeded", external_ref: sent.message_id } : { outcome: "retry" };
  const body = { ...word, by: "an operator", evidence: `the mail server has ${sent ? "it" : "nothing of it"}` };
  const path = `/operations/${encodeURIComponent(mail.operation_id)}/resolution`;
  await unlessDead(() => api.post(path, body, [200, 409]));
}
