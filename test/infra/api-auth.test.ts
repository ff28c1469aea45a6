import { App } from "aws-cdk-lib";
import { describe, expect, it } from "vitest";
import { apiAuthFromContext } from "../../infra/api-auth.ts";
import { agentStack, ofType, resourcesOf, synthesisMsMax } from "./synthesized-stack.ts";

const issuer = "https://id.example/tenant";
const fromContext = (context: Readonly<Record<string, unknown>>) => apiAuthFromContext(new App({ context }).node);

describe("an API for tokens", () => {
  it(
    "lets API Gateway check issuer and audience on every route",
    () => {
      const resources = resourcesOf(agentStack({ auth: { issuer, audience: ["web", "cli"] } }));
      const [authorizer, ...more] = ofType(resources, "AWS::ApiGatewayV2::Authorizer");
      expect(more).toEqual([]);
      expect(authorizer?.Properties).toMatchObject({
        AuthorizerType: "JWT",
        IdentitySource: ["$request.header.Authorization"],
        JwtConfiguration: { Issuer: issuer, Audience: ["web", "cli"] },
      });
      const routes = ofType(resources, "AWS::ApiGatewayV2::Route").filter(
        ({ Properties }) => !String(Properties.RouteKey).includes("/review/"),
      );
      expect(routes.length).toBeGreaterThanOrEqual(10);
      for (const { Properties } of routes) {
        expect(Properties).toMatchObject({ AuthorizationType: "JWT", AuthorizerId: { Ref: authorizer?.id } });
      }
    },
    synthesisMsMax,
  );

  it.each([
    ["no issuer", { issuer: "", audience: ["web"] }, /expected the issuer of your identity provider.*found ""/u],
    ["an issuer without TLS", { issuer: "http://id.example", audience: ["web"] }, /found "http:\/\/id.example"/u],
    ["an issuer with a query", { issuer: `${issuer}?a=b`, audience: ["web"] }, /expected the issuer/u],
    ["an issuer that is no address", { issuer: "id.example", audience: ["web"] }, /expected the issuer/u],
    ["no audience", { issuer, audience: [] }, /made for another application would be let in/u],
    ["an empty audience", { issuer, audience: ["web", ""] }, /made for another application would be let in/u],
  ])("is refused at synthesis with %s", (_what, auth, message) => {
    expect(() => agentStack({ auth })).toThrow(message);
  });
});

describe("the context", () => {
  it("says IAM where it says nothing", () => {
    expect(fromContext({})).toBe("iam");
  });

  it("names issuer and audiences for tokens", () => {
    const context = {
      "surefoot:auth": "jwt",
      "surefoot:jwtIssuer": issuer,
      "surefoot:jwtAudience": "web, cli",
    };
    expect(fromContext(context)).toEqual({ issuer, audience: ["web", "cli"] });
    expect(fromContext({ "surefoot:auth": "jwt" })).toEqual({ issuer: "", audience: [] });
  });

  it("is refused for a way of asking that does not exist", () => {
    expect(() => fromContext({ "surefoot:auth": "none" })).toThrow(
      /surefoot:auth: expected one of iam, jwt, none-local-only, found "none"/u,
    );
  });

  it("is refused where an issuer is named that nothing would read", () => {
    expect(() => fromContext({ "surefoot:jwtIssuer": issuer })).toThrow(/found "iam" beside surefoot:jwtIssuer/u);
    expect(() => fromContext({ "surefoot:auth": "none-local-only", "surefoot:jwtAudience": "web" })).toThrow(
      /add -c surefoot:auth=jwt, or leave them out/u,
    );
  });
});
