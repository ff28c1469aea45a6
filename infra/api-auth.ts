import { HttpNoneAuthorizer, type IHttpRouteAuthorizer } from "aws-cdk-lib/aws-apigatewayv2";
import { HttpIamAuthorizer, HttpJwtAuthorizer } from "aws-cdk-lib/aws-apigatewayv2-authorizers";
import type { Node } from "constructs";
import { contextFlag, contextKeys, contextText } from "./context.ts";

/** Tokens of an OpenID Connect provider, checked by API Gateway before any function runs. */
export interface JwtAuth {
  /** The provider's issuer, whose `/.well-known/openid-configuration` names its keys: `https://…`, no query. */
  readonly issuer: string;
  /** At least one: the `aud` or `client_id` that a token must have been made for. */
  readonly audience: readonly string[];
}

/**
 * Who may call the API. `iam`: whoever signs with credentials that may. `none-local-only` is for emulators on this machine: anybody who
 * reaches the API may start runs and decide approvals.
 */
export type ApiAuth = "iam" | JwtAuth | "none-local-only";

const authNames = ["iam", "jwt", "none-local-only"] as const;

/** What the context says, `iam` where it says nothing. @throws Error for settings that are unknown, missing, or would be ignored. */
export function apiAuthFromContext(node: Node): ApiAuth {
  const text = contextText(node, contextKeys.auth, "iam");
  const name = authNames.find((candidate) => candidate === text);
  if (!name) throw new Error(`context ${contextKeys.auth}: expected one of ${authNames.join(", ")}, found "${text}"`);
  const issuer = contextText(node, contextKeys.jwtIssuer, "");
  const audience = contextText(node, contextKeys.jwtAudience, "");
  if (name === "jwt") return { issuer, audience: audience === "" ? [] : audience.split(",").map((it) => it.trim()) };
  if (issuer === "" && audience === "") return name;
  throw new Error(
    `context ${contextKeys.auth}: found "${name}" beside ${contextKeys.jwtIssuer} or ${contextKeys.jwtAudience}, which only "jwt" reads: ` +
      `add -c ${contextKeys.auth}=jwt, or leave them out`,
  );
}

/** The authorizer of every route that is not public by itself. @throws Error for an API that would ask nobody, or for tokens of nobody. */
export function authorizerOf(auth: ApiAuth, node: Node): IHttpRouteAuthorizer {
  if (auth === "iam") return new HttpIamAuthorizer();
  if (auth === "none-local-only") return openTo(node);
  checkJwt(auth, node);
  return new HttpJwtAuthorizer("Tokens", auth.issuer, { jwtAudience: [...auth.audience] });
}

function openTo(node: Node): HttpNoneAuthorizer {
  if (contextFlag(node, contextKeys.local, false)) return new HttpNoneAuthorizer();
  throw new Error(
    `${node.path}: an API without authorization would let anybody start runs and decide approvals, found auth "none-local-only": ` +
      `use "iam" or "jwt", or for an emulator on this machine say so with -c ${contextKeys.local}=true`,
  );
}

function checkJwt({ issuer, audience }: JwtAuth, node: Node): void {
  const isIssuer = URL.canParse(issuer) && new URL(issuer).protocol === "https:" && !/[?#]/u.test(issuer);
  if (!isIssuer) {
    throw new Error(
      `${node.path}: expected the issuer of your identity provider, like https://cognito-idp.eu-west-1.amazonaws.com/<pool>, ` +
        `found "${issuer}": set -c ${contextKeys.jwtIssuer}=https://…`,
    );
  }
  if (audience.length > 0 && audience.every((it) => it !== "")) return;
  throw new Error(
    `${node.path}: without an audience a token that the provider made for another application would be let in, found none: ` +
      `set -c ${contextKeys.jwtAudience}=<client id>[,<client id>]`,
  );
}
