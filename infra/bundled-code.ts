import { dirname } from "node:path";
import { AssetHashType, DockerImage } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import { bundleLambdaSync } from "./bundle-lambda.ts";
import { lambdaEntry, type LambdaEntry } from "./lambda-entry.ts";

/** The entries that are functions on AWS; `agents` serves the local runner. */
export type FunctionEntry = Exclude<LambdaEntry, "agents">;

/**
 * The bundle of an entry as an asset. Bundled on this machine and named by its content, so that equal code is no deployment; CDK skips it
 * for stacks that a command does not touch.
 */
export function bundledCode(name: FunctionEntry, agentModules: readonly string[] = []): Code {
  const entry = lambdaEntry(name);
  return Code.fromAsset(dirname(entry), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Never used: bundling on this machine succeeds or throws. CDK wants one named.
      image: DockerImage.fromRegistry("no-image-is-used"),
      // CDK takes equal options for equal bundles within a run, and functions do not show in its comparison.
      command: [entry, ...agentModules],
      local: {
        tryBundle(outdir) {
          bundleLambdaSync({ entry, agentModules, outdir });
          return true;
        },
      },
    },
  });
}
