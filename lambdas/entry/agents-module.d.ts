/** Made by `infra/bundle-lambda.ts`: the agents that a bundle carries. */
declare module "surefoot:agents" {
  const agents: readonly import("../../shared/agent/agent.ts").Agent[];
  export default agents;
}
