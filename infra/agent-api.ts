import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { AccessLogFormat } from "aws-cdk-lib/aws-apigateway";
import {
  HttpApi,
  HttpMethod,
  HttpStage,
  LogGroupLogDestination,
  type ThrottleSettings,
} from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { type ApiFunction, apiRoutes } from "../lambdas/api-routes.ts";
import { type ApiAuth, authorizerOf } from "./api-auth.ts";
import type { PlatformFunction } from "./platform-function.ts";
import { vendedLogName } from "./vended-log-name.ts";

export interface AgentApiProps {
  readonly functions: Readonly<Record<ApiFunction, PlatformFunction>>;
  /** Who may call it. @default iam: callers sign their requests */
  readonly auth?: ApiAuth;
  /** Every run costs model calls. @default 100 requests a second, bursts of 200 */
  readonly throttle?: ThrottleSettings;
  /** @default three months */
  readonly logRetention?: RetentionDays;
}

/** API Gateway gives up after 30 s; the function ends first, so that its own log says why. */
export const apiTimeout = Duration.seconds(29);

/** No query strings and no bodies: they may hold what a customer wrote. */
const accessLogFormat = AccessLogFormat.custom(
  JSON.stringify({
    request_id: "$context.requestId",
    at: "$context.requestTime",
    route: "$context.routeKey",
    status: "$context.status",
    latency_ms: "$context.responseLatency",
    caller: "$context.identity.userArn",
    subject: "$context.authorizer.claims.sub",
    source_ip: "$context.identity.sourceIp",
    error: "$context.error.responseType",
    integration_error: "$context.integrationErrorMessage",
  }),
);

/** The HTTP API, from the same route table as the local server. */
export class AgentApi extends Construct {
  readonly api: HttpApi;
  readonly url: string;

  constructor(scope: Construct, id: string, props: AgentApiProps) {
    super(scope, id);
    this.api = new HttpApi(this, "HttpApi", {
      description: "Surefoot: start runs, look at them, decide approvals",
      createDefaultStage: false,
      defaultAuthorizer: authorizerOf(props.auth ?? "iam", this.node),
    });
    const stage = new HttpStage(this, "Stage", {
      httpApi: this.api,
      stageName: "$default",
      autoDeploy: true,
      throttle: props.throttle ?? { rateLimit: 100, burstLimit: 200 },
      accessLogSettings: {
        destination: new LogGroupLogDestination(
          new LogGroup(this, "AccessLog", {
            logGroupName: vendedLogName(this, "apigateway"),
            retention: props.logRetention ?? RetentionDays.THREE_MONTHS,
            removalPolicy: RemovalPolicy.DESTROY,
          }),
        ),
        format: accessLogFormat,
      },
    });
    this.url = stage.url;

    // One integration for all routes of a function. API Gateway's permission is per route all the same.
    const integrations = new Map(
      Object.entries(props.functions).map(([name, fn]) => [name, new HttpLambdaIntegration(name, fn.function)]),
    );
    for (const { method, path, functionName } of apiRoutes) {
      const integration = integrations.get(functionName);
      if (!integration) throw new Error(`route ${method} ${path}: no function "${functionName}" was given: add it`);
      this.api.addRoutes({ path, methods: [HttpMethod[method]], integration });
    }
  }
}
