import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { functionArn, type FunctionReference } from "./function-name.ts";

export interface LambdaDefinition {
  /** What callers invoke, `name` or `name:version`. */
  readonly name: string;
  /** ES module that exports `handler`, as `bundleLambda` writes it. */
  readonly bundleFile: string;
  /** The function's own settings. It sees these, and nothing of the environment of whoever runs the pool. */
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Bounds the JavaScript heap; a function that outgrows it dies, as on Lambda. */
  readonly memoryMb: number;
}

const defaultRegion = "us-east-1";

export function regionOf({ environment }: LambdaDefinition): string {
  return environment["AWS_REGION"] ?? defaultRegion;
}

/** The whole environment of a function's process. `HOME` is a folder without settings: unset, the AWS SDK would find the developer's
 *  credentials through the user database. `PATH` and Windows' `SystemRoot` are what a process needs to start others. */
export function processEnvironment(definition: LambdaDefinition, reference: FunctionReference): Record<string, string> {
  const taskRoot = dirname(definition.bundleFile);
  const fromHost = Object.fromEntries(
    ["PATH", "SystemRoot"].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return {
    ...fromHost,
    TZ: "UTC",
    LANG: "en_US.UTF-8",
    TMPDIR: tmpdir(),
    HOME: taskRoot,
    LAMBDA_TASK_ROOT: taskRoot,
    AWS_REGION: defaultRegion,
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_LAMBDA_FUNCTION_NAME: reference.name,
    AWS_LAMBDA_FUNCTION_VERSION: reference.qualifier ?? "$LATEST",
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memoryMb),
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${reference.name}`,
    ...definition.environment,
  };
}

/** What `lambda-bootstrap` reads from its command line, in its order. */
export function bootstrapArguments(definition: LambdaDefinition, reference: FunctionReference): string[] {
  return [
    definition.bundleFile,
    reference.name,
    reference.qualifier ?? "$LATEST",
    functionArn(regionOf(definition), reference),
    String(definition.memoryMb),
  ];
}
