import { type Duration, RemovalPolicy } from "aws-cdk-lib";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Architecture, Function, Runtime, Tracing, type Version } from "aws-cdk-lib/aws-lambda";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { bundledCode, type FunctionEntry } from "./bundled-code.ts";

export interface PlatformFunctionProps {
  readonly entry: FunctionEntry;
  readonly timeout: Duration;
  /** Modules whose default export is an agent, carried in the bundle. @default none */
  readonly agentModules?: readonly string[];
  /** CPU grows with it. @default 512 */
  readonly memoryMb?: number;
  /** Beside what `bindTo` methods set. @default none */
  readonly environment?: Readonly<Record<string, string>>;
  /** X-Ray. @default true */
  readonly tracing?: boolean;
  /** @default three months */
  readonly logRetention?: RetentionDays;
}

/** Permission for a few named actions. A type of its own so that a wildcard does not compile. */
export interface Permission {
  readonly actions: readonly `${string}:${Capitalize<string>}`[];
  readonly resources: readonly string[];
  readonly conditions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/**
 * One of Surefoot's Lambda functions. Its role starts with nothing but its own log group: CDK's managed policy would let it write to
 * every log group of the account.
 */
export class PlatformFunction extends Construct {
  readonly function: Function;
  readonly role: Role;

  constructor(scope: Construct, id: string, props: PlatformFunctionProps) {
    super(scope, id);
    const logGroup = new LogGroup(this, "Log", {
      retention: props.logRetention ?? RetentionDays.THREE_MONTHS,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.role = new Role(this, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    this.role.addToPolicy(
      new PolicyStatement({
        actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
        resources: [logGroup.logGroupArn],
      }),
    );
    this.function = new Function(this, "Function", {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: "index.handler",
      code: bundledCode(props.entry, props.agentModules),
      role: this.role,
      logGroup,
      timeout: props.timeout,
      memorySize: props.memoryMb ?? 512,
      tracing: (props.tracing ?? true) ? Tracing.ACTIVE : Tracing.DISABLED,
      environment: { ...props.environment, NODE_OPTIONS: "--enable-source-maps" },
      // The state machine owns every retry, also where somebody invokes a function by hand and asynchronously.
      retryAttempts: 0,
      // Executions that run keep the code they started with, so a version outlives the deployment that replaces it.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN, retryAttempts: 0 },
    });
  }

  /** The code and settings of this deployment, under an ARN that never means anything else. */
  get version(): Version {
    return this.function.currentVersion;
  }

  allow({ actions, resources, conditions }: Permission): void {
    this.role.addToPolicy(
      new PolicyStatement({
        actions: [...actions],
        resources: [...resources],
        ...(conditions && { conditions }),
      }),
    );
  }

  setEnvironment(name: string, value: string): void {
    this.function.addEnvironment(name, value);
  }
}
