/** Made by `infra/bundle-lambda.ts`: the agents that a bundle carries. */
declare module "surefoot:agents" {
  import type { Agent } from "../../shared/agent/agent.ts";
  const agents: readonly Agent[];
  export default agents;
}
