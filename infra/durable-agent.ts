import { Annotations, ArnFormat, Aws, Duration, RemovalPolicy, SecretValue, Stack } from "aws-cdk-lib";
import { Policy, PolicyStatement } from "aws-cdk-lib/aws-iam";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { DefinitionBody, LogLevel, StateMachine } from "aws-cdk-lib/aws-stepfunctions";
import { Construct } from "constructs";
import { envNames } from "../lambdas/env.ts";
import type { Agent } from "../shared/agent/agent.ts";
import { compileAgent, type CompiledAgent } from "../shared/compile/compile-agent.ts";
import { type CompileSettings, compileSettingsDefault } from "../shared/compile/compile-settings.ts";
import type { AgentStore } from "./agent-store.ts";
import { contextFlag, contextKeys } from "./context.ts";
import { contractWarning } from "./contract/contract-warning.ts";
import { PlatformFunction } from "./platform-function.ts";
import { publishedVersion } from "./published-version.ts";
import { storeAccess } from "./store-access.ts";
import { vendedLogName } from "./vended-log-name.ts";

export interface DurableAgentProps {
  readonly agent: Agent;
  /** Path of the module whose default export is `agent`: this is what gets bundled and runs. */
  readonly agentModule: string;
  readonly store: AgentStore;
  /** Shared by all agents of a stack: they carry no agent code. */
  readonly wait: PlatformFunction;
  readonly settle: PlatformFunction;
  /** @default the compiler's: steps of 120 s, 30 days for a person to resolve a doubt */
  readonly settings?: CompileSettings;
  /** Settings of the agent's tools and models. They show in the template: secrets go into `secrets`. @default none */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * Environment name → name of a Secrets Manager secret. CloudFormation puts the value in when it deploys; the template holds the name
   * only. A rotated secret takes effect with the next deployment. @default none
   */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Models that the agent may ask. @default Anthropic's and Amazon's; none where another provider is set */
  readonly bedrockModelArns?: readonly string[];
  /** @default 1024 */
  readonly memoryMb?: number;
  /** X-Ray. @default true */
  readonly tracing?: boolean;
  /** @default three months */
  readonly logRetention?: RetentionDays;
  /** Publish a version of the state machine with each change, and start runs on it. @default context `surefoot:stateMachineVersions`, else true */
  readonly stateMachineVersions?: boolean;
}

/** One agent on AWS: its step function and the state machine compiled from its definition. */
export class DurableAgent extends Construct {
  readonly compiled: CompiledAgent;
  readonly step: PlatformFunction;
  readonly stateMachine: StateMachine;
  /** What runs are started on, and stay on: this deployment's version of the machine, or the machine itself where there are no versions. */
  readonly startArn: string;

  constructor(scope: Construct, id: string, props: DurableAgentProps) {
    super(scope, id);
    const settings = props.settings ?? compileSettingsDefault;
    this.compiled = compileAgent(props.agent, settings);
    const warning = contractWarning(props.agentModule, this.compiled.manifest);
    if (warning !== undefined) Annotations.of(this).addWarningV2("surefoot:contract", warning);
    this.step = this.#stepFunction(props, settings);
    this.stateMachine = this.#machine(props);
    this.#mayBeAnsweredBy(props.wait);
    const versions = props.stateMachineVersions ?? contextFlag(this.node, contextKeys.stateMachineVersions, true);
    this.startArn = versions ? publishedVersion(this, this.stateMachine) : this.stateMachine.stateMachineArn;
  }

  /** IAM asks for the machine's own ARN, also where the call names a version of it. */
  allowStart(fn: PlatformFunction): void {
    fn.allow({ actions: ["states:StartExecution"], resources: [this.stateMachine.stateMachineArn] });
  }

  /** May wake what waits in this agent's executions. The documented table names no resource; the service does check the machine's ARN. */
  allowAnswer(fn: PlatformFunction): void {
    fn.allow({ actions: [...answerActions], resources: [this.stateMachine.stateMachineArn] });
  }

  /** May have a pinned version of the step function look after one of its operations. */
  allowStep(fn: PlatformFunction): void {
    fn.allow({ actions: ["lambda:InvokeFunction"], resources: [`${this.step.function.functionArn}:*`] });
  }

  /** May see whether an execution still runs. */
  allowLook(fn: PlatformFunction): void {
    const executions = Stack.of(this).formatArn({
      service: "states",
      resource: "execution",
      resourceName: `${this.stateMachine.stateMachineName}:*`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    fn.allow({ actions: ["states:DescribeExecution"], resources: [executions] });
  }

  #stepFunction(props: DurableAgentProps, settings: CompileSettings): PlatformFunction {
    const secrets = Object.entries(props.secrets ?? {}).map(
      // Unwrapped into a reference that CloudFormation resolves, not into the value.
      ([name, secret]) => [name, SecretValue.secretsManager(secret).unsafeUnwrap()] as const,
    );
    const step = new PlatformFunction(this, "Step", {
      entry: "step",
      agentModules: [props.agentModule],
      timeout: Duration.seconds(settings.stepTimeoutSeconds),
      memoryMb: props.memoryMb ?? 1024,
      environment: { ...props.environment, ...Object.fromEntries(secrets), [envNames.agent]: props.agent.name },
      ...(props.tracing !== undefined && { tracing: props.tracing }),
      ...(props.logRetention !== undefined && { logRetention: props.logRetention }),
    });
    props.store.bindTo(step, storeAccess.step);
    const models = props.bedrockModelArns ?? bedrockModels(this, props.environment?.[envNames.modelProvider]);
    // One action: answers are not streamed.
    if (models.length > 0) step.allow({ actions: ["bedrock:InvokeModel"], resources: models });
    return step;
  }

  #machine(props: DurableAgentProps): StateMachine {
    const functions = [this.step, props.wait, props.settle] as const;
    const [step, wait, settle] = functions.map((fn) => fn.version.functionArn) as [string, string, string];
    const machine = new StateMachine(this, "StateMachine", {
      definitionBody: DefinitionBody.fromString(JSON.stringify(this.compiled.definition)),
      // Versions: an execution that runs, for a week perhaps, stays on the code it started with.
      definitionSubstitutions: { StepFunctionArn: step, WaitFunctionArn: wait, SettleFunctionArn: settle },
      tracingEnabled: props.tracing ?? true,
      logs: {
        destination: new LogGroup(this, "Log", {
          logGroupName: vendedLogName(this, "states"),
          retention: props.logRetention ?? RetentionDays.THREE_MONTHS,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
        level: LogLevel.ERROR,
        // The payload is ids only, but a task token is a secret.
        includeExecutionData: false,
      },
    });
    machine.addToRolePolicy(
      new PolicyStatement({
        actions: ["lambda:InvokeFunction"],
        // Every version of exactly these three: the role is shared with executions that still run on the versions of earlier deployments.
        resources: functions.map((fn) => `${fn.function.functionArn}:*`),
      }),
    );
    return machine;
  }

  /** A policy of its own: inside the function's, it would make the function wait for the machine, which waits for the function. */
  #mayBeAnsweredBy(wait: PlatformFunction): void {
    new Policy(this, "WaitAnswers", {
      roles: [wait.role],
      statements: [
        new PolicyStatement({ actions: [...answerActions], resources: [this.stateMachine.stateMachineArn] }),
      ],
    });
  }
}

const answerActions = ["states:SendTaskSuccess", "states:SendTaskFailure"] as const;

/**
 * The two families that the model adapter is tested with. By family, because a model's id holds its release date and the agent chooses
 * by configuration; in every region, because an inference profile answers from any of its regions.
 */
function bedrockModels(scope: Construct, provider = "bedrock"): readonly string[] {
  if (provider !== "bedrock") return [];
  const { partition } = Stack.of(scope);
  return ["anthropic", "amazon"].flatMap((family) => [
    `arn:${partition}:bedrock:*::foundation-model/${family}.*`,
    `arn:${partition}:bedrock:${Aws.REGION}:${Aws.ACCOUNT_ID}:inference-profile/*.${family}.*`,
  ]);
}
