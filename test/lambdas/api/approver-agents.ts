import { type Agent, days, defineAgent } from "../../../shared/index.ts";
import { createRefundTool, emptyWorld, RefundRequest } from "../../builders/agents.ts";

type Approvers = NonNullable<Parameters<ReturnType<typeof start>["approval"]>[1]["approvers"]>;
const start = (name: string) => defineAgent(name, { version: 1, input: RefundRequest });
const guarded = (name: string, approvers: Approvers): Agent =>
  start(name)
    .approval("review", {
      of: "refund",
      show: ({ input }) => ({
        title: "Refund",
        fields: [{ type: "money", label: "Amount", amount_cents: input.amountCents, currency: "EUR" }],
        on_approve: "The money is sent.",
        on_reject: "Nothing happens.",
      }),
      approvers,
      validFor: days(1),
      onReject: "end",
    })
    .write("refund", { tool: createRefundTool(emptyWorld()), with: ({ input }) => input })
    .end();

export const byRole = guarded("by-role", { roles: ["AWSReservedSSO_finance_1"] });
export const byName = guarded("by-name", { names: ["ann@example.com", "bo@example.com"] });
export const twoOf = guarded("two-of", { quorum: 2, excludeRequester: true });
export const agents = [byRole, byName, twoOf];

/** Somebody whom API Gateway knows by IAM Identity Center, with one role. */
export const sso = (role: string, user: string) => ({
  event: {
    requestContext: {
      authorizer: {
        iam: { userArn: `arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_${role}_1/${user}` },
      },
    },
  },
});
export const named = (role: string, user: string) =>
  `arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_${role}_1/${user}`;
/** A session of a plain role, whose name whoever assumes it chooses. */
export const session = (name: string) => ({
  event: {
    requestContext: { authorizer: { iam: { userArn: `arn:aws:sts::111122223333:assumed-role/deployer/${name}` } } },
  },
});

export const yes = { decision: "approve" };
export const no = { decision: "reject", comment: "too much" };
