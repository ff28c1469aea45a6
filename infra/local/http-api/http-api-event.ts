import type { IncomingHttpHeaders } from "node:http";
import { localAccountId } from "../lambda/function-name.ts";
import type { RouteMatch } from "./match-route.ts";

const apiId = "local";

/** A request as it arrived. */
export interface HttpApiRequest {
  readonly method: string;
  /** Decoded, without the query. */
  readonly path: string;
  /** As sent, without the question mark. */
  readonly rawQueryString: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly sourceIp: string;
  readonly port: number;
}

/** What API Gateway gives to a function: payload format 2.0 of an HTTP API. */
export type HttpApiEvent = ReturnType<typeof toHttpApiEvent>;

export function toHttpApiEvent(
  request: HttpApiRequest,
  { route, pathParameters }: RouteMatch,
  at: { readonly requestId: string; readonly epochMs: number },
) {
  const { cookie, ...headers } = request.headers;
  const domainName = headers.host ?? `127.0.0.1:${request.port}`;
  const query = queryParameters(request.rawQueryString);
  const isText = isTextual(headers["content-type"]);
  const routeKey = `${route.method} ${route.path}`;
  return {
    version: "2.0",
    routeKey,
    rawPath: request.path,
    rawQueryString: request.rawQueryString,
    ...(cookie !== undefined && { cookies: cookie.split(/; ?/) }),
    headers: {
      ...joined(headers),
      "x-forwarded-for": request.sourceIp,
      "x-forwarded-port": String(request.port),
      "x-forwarded-proto": "http",
    },
    ...(Object.keys(query).length > 0 && { queryStringParameters: query }),
    ...(Object.keys(pathParameters).length > 0 && { pathParameters }),
    requestContext: {
      accountId: localAccountId,
      apiId,
      domainName,
      domainPrefix: domainName.split(/[.:]/)[0] ?? apiId,
      http: {
        method: request.method,
        path: request.path,
        protocol: "HTTP/1.1",
        sourceIp: request.sourceIp,
        userAgent: headers["user-agent"] ?? "",
      },
      requestId: at.requestId,
      routeKey,
      stage: "$default",
      time: commonLogTime(at.epochMs),
      timeEpoch: at.epochMs,
    },
    ...(request.body.length > 0 && { body: request.body.toString(isText ? "utf8" : "base64") }),
    isBase64Encoded: request.body.length > 0 && !isText,
  };
}

/** Measured on AWS and published by the maintainers of an emulator: these types pass as text; all others, forms and no type at all
 *  included, as base64. */
function isTextual(contentType: string | undefined): boolean {
  const type = contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
  return type.startsWith("text/") || /^application\/(json|xml|javascript)$/.test(type);
}

/** Node joins repeated headers except `set-cookie`, which no request carries. */
function joined(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(",") : value]],
    ),
  );
}

/** Decoded; values of a repeated name are joined with commas. */
function queryParameters(rawQueryString: string): Record<string, string> {
  const parameters: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(rawQueryString)) {
    parameters[name] = name in parameters ? `${parameters[name]},${value}` : value;
  }
  return parameters;
}

/** `02/Sep/2026:10:00:00 +0000` */
function commonLogTime(epochMs: number): string {
  const [, day, month, year, time] = /^\w+, (\d+) (\w+) (\d+) ([\d:]+)/.exec(new Date(epochMs).toUTCString()) ?? [];
  return `${day}/${month}/${year}:${time} +0000`;
}
