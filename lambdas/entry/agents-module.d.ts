/** Made by `infra/bundle-lambda.ts`: the agents that a bundle carries. */
declare module "surefoot:agents" {
  // eslint-disable-next-line @typescript-eslint/consistent-type-imports -- an import statement would make this file a module, and the declaration local to it
  const agents: readonly import("../../shared/agent/agent.ts").Agent[];
  export default agents;
}
