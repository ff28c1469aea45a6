import { Hono } from "hono";
import { describe, expect, test } from "vitest";
import { type Caller, callerOf } from "../../../lambdas/api/caller.ts";
import { BadRequest } from "../../../shared/faults/faults.ts";

/** The caller as a function sees it, from what API Gateway says and what the request carries. */
async function caller(
  authorizer: unknown,
  { claimed, authorization }: { readonly claimed?: string; readonly authorization?: string } = {},
): Promise<Caller | string> {
  const app = new Hono();
  app.onError((error, c) => c.json(error instanceof BadRequest ? error.code : String(error)));
  app.get("/", (c) => c.json(callerOf(c, claimed)));
  const env = authorizer === undefined ? undefined : { event: { requestContext: { authorizer } } };
  const response = await app.request("/", { headers: authorization === undefined ? {} : { authorization } }, env);
  return (await response.json()) as Caller | string; // what the app above answers
}

const jwtOf = (claims: object): string =>
  ["e30", Buffer.from(JSON.stringify(claims)).toString("base64url"), "c2ln"].join(".");

/** As API Gateway hands claims on: everything as text, lists in brackets. */
const gatewayClaims = { iss: "https://id.example", sub: "u-1", exp: "1790000000" };
const tokenClaims = { iss: "https://id.example", sub: "u-1", exp: 1_790_000_000 };

describe("who calls", () => {
  test("by IAM is the caller's ARN, whatever the body claims", async () => {
    const arn = "arn:aws:iam::111122223333:user/bob";

    expect(await caller({ iam: { userArn: arn } }, { claimed: "the-boss" })).toEqual({
      by: arn,
      known_by: "iam",
      roles: [],
    });
  });

  test("by an assumed role has that role", async () => {
    const userArn = "arn:aws:sts::111122223333:assumed-role/finance-approver/ann";

    expect(await caller({ iam: { userArn } })).toEqual({ by: userArn, known_by: "iam", roles: ["finance-approver"] });
  });

  test("by a token is the subject, and by its verified address where it has one", async () => {
    const address = { ...gatewayClaims, email: "Ann@Example.com" };

    expect(await caller({ jwt: { claims: gatewayClaims } })).toMatchObject({ by: "u-1", known_by: "jwt" });
    expect(await caller({ jwt: { claims: address } })).toMatchObject({ by: "u-1" });
    expect(await caller({ jwt: { claims: { ...address, email_verified: "false" } } })).toMatchObject({ by: "u-1" });
    expect(await caller({ jwt: { claims: { ...address, email_verified: "true" } } })).toMatchObject({
      by: "ann@example.com",
    });
  });

  test("by a token that names nobody is refused", async () => {
    expect(await caller({ jwt: { claims: { iss: "https://id.example" } } }, { claimed: "ann" })).toBe("caller_unknown");
  });

  test("without authorization is whoever the body names, without roles", async () => {
    expect(await caller(undefined, { claimed: "ann" })).toEqual({ by: "ann", known_by: "claimed", roles: [] });
    expect(await caller(undefined)).toBe("decider_missing");
  });
});

describe("the roles of a token", () => {
  test("are those of every list claim, a name with a space being one name", async () => {
    const authorization = `Bearer ${jwtOf({ ...tokenClaims, groups: ["finance", "not legal"], roles: ["lead", "finance"] })}`;
    const claims = { ...gatewayClaims, groups: "[finance not legal]", roles: "[lead finance]" };

    expect(await caller({ jwt: { claims } }, { authorization })).toMatchObject({
      roles: ["lead", "finance", "not legal"],
    });
  });

  test.each([
    ["another subject", { ...tokenClaims, sub: "u-2" }],
    ["another issuer", { ...tokenClaims, iss: "https://elsewhere.example" }],
    ["another end", { ...tokenClaims, exp: 1_790_000_001 }],
  ])("are none where the token at hand is not the verified one: %s", async (_what, claims) => {
    const authorization = `Bearer ${jwtOf({ ...claims, groups: ["finance"] })}`;

    expect(await caller({ jwt: { claims: gatewayClaims } }, { authorization })).toMatchObject({ roles: [] });
  });

  test.each(["", "Bearer", "Bearer x.y", "Bearer a.!!.c", `Bearer ${jwtOf({})}x y`])(
    "are none where there is no token: %j",
    async (authorization) => {
      expect(await caller({ jwt: { claims: gatewayClaims } }, { authorization })).toMatchObject({ roles: [] });
    },
  );

  test("are none where a claim holds something else than names", async () => {
    const authorization = `Bearer ${jwtOf({ ...tokenClaims, groups: { finance: true }, roles: [1, null, ""] })}`;

    expect(await caller({ jwt: { claims: gatewayClaims } }, { authorization })).toMatchObject({ roles: [] });
  });
});
