import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { AccessLogFormat } from "aws-cdk-lib/aws-apigateway";
import {
  type CfnStage,
  HttpApi,
  HttpMethod,
  HttpNoneAuthorizer,
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
  /** Who may call it. @default iam: callers sign their requests */
  readonly auth?: ApiAuth;
  /** Every run costs model calls. @default 100 requests a second, bursts of 200 */
  readonly throttle?: ThrottleSettings;
  /** The address people reach it at, where a domain or a proxy of your own stands before it. @default API Gateway's own */
  readonly publicUrl?: string;
  /** @default three months */
  readonly logRetention?: RetentionDays;
}

/** API Gateway gives up after 30 s; the function ends first, so that its own log says why. */
export const apiTimeout = Duration.seconds(29);

/** Anybody may knock at a public route: it must not use up what the others need. */
const publicThrottle = { ThrottlingRateLimit: 20, ThrottlingBurstLimit: 40 };

/** No paths: some hold a link that decides. No query strings and no bodies: they may hold what a customer wrote. */
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

/** The HTTP API, from the same route table as the local server. Its address is known before its functions, which put it into links. */
export class AgentApi extends Construct {
  readonly api: HttpApi;
  /** Of API Gateway itself. */
  readonly url: string;
  /** As people reach it. */
  readonly publicUrl: string;
  readonly #stage: HttpStage;

  constructor(scope: Construct, id: string, props: AgentApiProps = {}) {
    super(scope, id);
    this.api = new HttpApi(this, "HttpApi", {
      description: "Surefoot: start runs, look at them, decide approvals",
      createDefaultStage: false,
      defaultAuthorizer: authorizerOf(props.auth ?? "iam", this.node),
    });
    this.#stage = new HttpStage(this, "Stage", {
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
    this.url = this.#stage.url;
    this.publicUrl = props.publicUrl ?? this.url;
  }

  /** Every route of the table to its function. */
  addRoutes(functions: Readonly<Record<ApiFunction, PlatformFunction>>): void {
    const stage = this.#stage.node.defaultChild as CfnStage; // the L2 knows no throttle of a single route
    const routeSettings: Record<string, typeof publicThrottle> = {};
    // One integration for all routes of a function. API Gateway's permission is per route all the same.
    const integrations = new Map(
      Object.entries(functions).map(([name, fn]) => [name, new HttpLambdaIntegration(name, fn.function)]),
    );
    for (const { method, path, functionName, isPublic = false } of apiRoutes) {
      const integration = integrations.get(functionName);
      if (!integration) throw new Error(`route ${method} ${path}: no function "${functionName}" was given: add it`);
      const routes = this.api.addRoutes({
        path,
        methods: [HttpMethod[method]],
        integration,
        ...(isPublic && { authorizer: new HttpNoneAuthorizer() }),
      });
      if (!isPublic) continue;
      routeSettings[`${method} ${path}`] = publicThrottle;
      // API Gateway refuses settings of a route that is not there yet.
      stage.node.addDependency(...routes);
    }
    stage.addPropertyOverride("RouteSettings", routeSettings);
  }
}
