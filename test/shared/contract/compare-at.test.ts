import { describe, expect, it } from "vitest";
import { z } from "zod";
import { nodeOf } from "../../../shared/agent/agent.ts";
import { compareAt } from "../../../shared/contract/compare-at.ts";
import { runsInWords } from "../../../shared/contract/hurt.ts";
import { fingerprintOf, manifestOf } from "../../../shared/contract/manifest.ts";
import { type FootholdHistory, footholdOf } from "../../../shared/contract/foothold.ts";
import { none } from "../../../shared/index.ts";
import { positionAt } from "../../../shared/runlog/position.ts";
import {
  type Builder,
  lookupTool,
  mailTool,
  type Parts,
  paymentAgent,
  paymentTool,
  Plan,
  plannerPrompt,
  riskCheck,
} from "./payment-agent.ts";

const seven = paymentAgent();
const recorded = manifestOf(seven);

/** A log of version 7: `planner>lookup` is planner's record, which leads to lookup. */
function log(...records: readonly string[]): FootholdHistory["steps"] {
  return records.map((record, ordinal) => {
    const [name = "", next = ""] = record.split(">");
    const node = nodeOf(seven, name);
    return { position: positionAt(ordinal, name), node: name, kind: node.kind, fingerprint: fingerprintOf(node), next };
  });
}

const routes = { approved: "payment", rejected: "planner", expired: "end" };
interface Place {
  readonly steps: FootholdHistory["steps"];
  readonly asked?: boolean;
  readonly handedOut?: string;
  readonly operation?: { readonly node: string; readonly status: "PENDING" | "STARTED" | "SUCCEEDED" | "UNKNOWN" };
  readonly undoing?: boolean;
}

function foothold({ steps, asked, handedOut, operation, undoing }: Place) {
  const next = steps.at(-1)?.next ?? "planner";
  const position = positionAt(steps.length, next);
  const waiter = { position, node: next, status: "OPEN" as const };
  return footholdOf(
    {
      run: { entry: "planner", ...(undoing && { compensation: { status: "FAILED" } }) },
      steps,
      waiters: [
        ...(asked ? [{ ...waiter, kind: "approval" as const, routes }] : []),
        ...(handedOut ? [{ ...waiter, kind: "delivery" as const, routes: {} }] : []),
      ],
    },
    operation
      ? [
          {
            operation_id: "op-1",
            position: positionAt(steps.length, operation.node),
            status: operation.status,
          },
        ]
      : [],
    undefined,
  );
}

function judged(place: Place, parts: Parts) {
  const { verdict, goesOnAt, asksAgain, hurts } = compareAt(recorded, manifestOf(paymentAgent(parts)), foothold(place));
  return { verdict, goesOnAt, asksAgain, because: [...new Set(hurts.map((hurt) => hurt.because))] };
}

const toApproval = log("planner>lookup", "lookup>approval");
const atApproval: Place = { steps: toApproval, asked: true };
const toPayment = log("planner>lookup", "lookup>approval", "approval>payment");

describe("the story: risk_check before the payment, and a run that waits at the approval", () => {
  const eight: Parts = { version: 8, before: { payment: riskCheck } };

  it("is not for a run that was asked: its approval authorises a payment that has skipped the check", () => {
    expect(judged(atApproval, eight)).toEqual({
      verdict: "incompatible",
      goesOnAt: undefined,
      asksAgain: false,
      because: ["the approval authorises a payment that has skipped risk_check"],
    });
  });

  it("is not for a run that has the approval, and none that has paid", () => {
    expect(judged({ steps: toPayment }, eight)).toMatchObject({ verdict: "incompatible" });
    const paid = log("planner>lookup", "lookup>approval", "approval>payment", "payment>notify");
    expect(judged({ steps: paid }, eight)).toMatchObject({
      verdict: "incompatible",
      because: ["they have skipped risk_check"],
    });
  });

  it("is for a run that has not been asked yet", () => {
    expect(judged({ steps: toApproval }, eight)).toEqual({
      verdict: "compatible",
      goesOnAt: "approval",
      asksAgain: false,
      because: [],
    });
    expect(judged({ steps: [] }, eight)).toMatchObject({ verdict: "compatible", goesOnAt: "planner" });
  });

  it("is for a run that was turned back, and plans again: what lies behind it is gone over again", () => {
    const back = log("planner>lookup", "lookup>approval", "approval>planner", "planner>lookup");
    expect(judged({ steps: back }, eight)).toMatchObject({ verdict: "compatible", goesOnAt: "lookup" });
  });
});

describe("a pending approval is asked again", () => {
  it("by the tool that it authorises", () => {
    expect(judged(atApproval, { payment: { tool: paymentTool({ version: 4 }) } })).toEqual({
      verdict: "reapprove",
      goesOnAt: "approval",
      asksAgain: true,
      because: ["what was shown is what payment would have done before it changed"],
    });
  });

  it("by the prompt that wrote what it shows, from that model on", () => {
    expect(judged(atApproval, { planner: { prompt: plannerPrompt({ text: "Plan well." }) } })).toEqual({
      verdict: "reapprove",
      goesOnAt: "planner",
      asksAgain: true,
      because: ["what they show was written by planner as it was before"],
    });
  });

  it("by a new release of the prompt that wrote what it shows: the approval is bound to it, its words are the same", () => {
    const release = { planner: { prompt: plannerPrompt({ release: 2 }) } };
    expect(judged(atApproval, release)).toMatchObject({ verdict: "reapprove", goesOnAt: "approval", asksAgain: true });
    expect(judged({ steps: toApproval }, release)).toMatchObject({ verdict: "compatible" });
  });

  it("by who may decide, also where somebody has, and nothing was sent", () => {
    const finance = { approval: { approvers: { roles: ["finance"] } } };
    expect(judged(atApproval, finance)).toMatchObject({ verdict: "reapprove", goesOnAt: "approval", asksAgain: true });
    expect(judged({ steps: toPayment }, finance)).toMatchObject({
      verdict: "reapprove",
      goesOnAt: "approval",
      asksAgain: true,
    });
  });

  it("not where its model's answer has another shape: a record is never other data", () => {
    const other = { planner: { output: Plan.extend({ why: z.number() }) } };
    expect(judged(atApproval, other)).toMatchObject({ verdict: "incompatible", goesOnAt: undefined });
  });

  it("not once nobody waits for it: the same change is then behind the run", () => {
    const words = { planner: { prompt: plannerPrompt({ text: "Plan well." }) } };
    expect(judged({ steps: toApproval }, words)).toMatchObject({ verdict: "incompatible" });
  });

  it("not where a write has used what would be made again", () => {
    const two = (parts: object) =>
      paymentAgent({
        ...parts,
        before: {
          approval: (b: Builder) => b.write("hold", { tool: mailTool(), with: () => ({ to: "a", text: "b" }) }),
        },
      });
    const was = two({});
    const steps = ["planner>lookup", "lookup>hold", "hold>approval"].map((record, ordinal) => {
      const [name = "", next = ""] = record.split(">");
      const node = nodeOf(was, name);
      return {
        position: positionAt(ordinal, name),
        node: name,
        kind: node.kind,
        fingerprint: fingerprintOf(node),
        next,
      };
    });
    const current = manifestOf(two({ planner: { prompt: plannerPrompt({ text: "Plan well." }) } }));
    expect(compareAt(manifestOf(was), current, foothold({ steps, asked: true })).verdict).toBe("incompatible");
  });
});

describe("an operation that has begun", () => {
  const doubt = (status: "PENDING" | "STARTED" | "SUCCEEDED" | "UNKNOWN"): Place => ({
    steps: toPayment,
    operation: { node: "payment", status },
  });

  it.each(["STARTED", "SUCCEEDED", "UNKNOWN"] as const)("and is %s is ended by the version that began it", (status) => {
    expect(judged(doubt(status), { version: 8 })).toMatchObject({
      verdict: "incompatible",
      because: ["payment may have reached the outside, which only version 7 can end"],
    });
    expect(judged(doubt(status), {})).toMatchObject({ verdict: "same", goesOnAt: "payment" });
    expect(judged(doubt(status), { planner: { timeout: 5 } })).toMatchObject({ verdict: "compatible" });
  });

  it("is not one that only was proposed", () => {
    expect(judged(doubt("PENDING"), { version: 8 })).toMatchObject({ verdict: "compatible" });
  });

  it("is one that was handed out, although it is only PENDING", () => {
    const paid = log("planner>lookup", "lookup>approval", "approval>payment", "payment>notify");
    const place = { steps: paid, handedOut: "notify", operation: { node: "notify", status: "PENDING" as const } };
    expect(judged(place, { version: 8 })).toMatchObject({ verdict: "incompatible" });
    const queued = { notify: { tool: mailTool({ downstream: none({ delivery: "queue" }) }) } };
    expect(judged(place, queued)).toMatchObject({ verdict: "incompatible" });
    expect(judged({ steps: paid }, queued)).toMatchObject({ verdict: "compatible" });
  });

  it("and is in the log is over", () => {
    const [plan, look, yes, pay] = log("planner>lookup", "lookup>approval", "approval>payment", "payment>notify");
    const steps = [plan!, look!, yes!, { ...pay!, operation_id: "op-1" }];
    const place = { steps, operation: { node: "payment", status: "SUCCEEDED" as const } };
    expect(judged(place, { version: 8 })).toMatchObject({ verdict: "compatible", goesOnAt: "notify" });
  });

  it("to take something back is ended by the version that turned back", () => {
    expect(judged({ steps: toPayment, undoing: true }, { version: 8 })).toMatchObject({ verdict: "incompatible" });
  });
});

describe("what lies ahead", () => {
  it.each<[string, Parts]>([
    ["another tool version", { payment: { tool: paymentTool({ version: 4 }) } }],
    ["a node less", { without: ["notify"] }],
    ["a node more", { before: { notify: riskCheck } }],
    ["another write to approve", { payment: { tool: mailTool(), with: () => ({ to: "a", text: "b" }) } }],
  ])("does not matter to a run that has not come there: %s", (_what, parts) => {
    expect(judged({ steps: log("planner>lookup") }, parts)).toMatchObject({
      verdict: "compatible",
      goesOnAt: "lookup",
    });
  });

  it("does not matter to a run that has come to its end", () => {
    const done = log("planner>lookup", "lookup>approval", "approval>payment", "payment>notify", "notify>end");
    const place = { steps: done };
    expect(judged(place, { before: { end: riskCheck } })).toMatchObject({ verdict: "compatible", goesOnAt: "end" });
    const [, , , , mail] = done;
    expect(mail?.next).toBe("end");
  });
});

describe("what is behind", () => {
  it.each<[string, Parts, string]>([
    [
      "another tool version",
      { lookup: { tool: lookupTool({ version: 2 }) } },
      "they have the result of lookup as it was before: a record is never reused by another definition",
    ],
    [
      "another kind",
      {
        without: ["lookup"],
        before: {
          approval: (b: Builder) =>
            b.compute("lookup", {
              output: z.object({ id: z.string(), paidCents: z.number() }),
              run: () => ({ id: "o", paidCents: 1 }),
            }),
        },
      },
      "they have lookup recorded as read, not as compute",
    ],
    ["a node less", { without: ["lookup"] }, "they have the result of lookup, which is not there any more"],
    ["a node more", { before: { lookup: riskCheck } }, "they have skipped risk_check"],
  ])("decides: %s", (_what, parts, because) => {
    const at = judged({ steps: toApproval }, parts);
    expect(at).toMatchObject({ verdict: "incompatible", goesOnAt: undefined });
    expect(at.because).toContain(because);
  });

  it("says where a run stands that it hurts", () => {
    const current = manifestOf(paymentAgent({ before: { lookup: riskCheck } }));
    const { hurts } = compareAt(recorded, current, foothold({ steps: toApproval }));
    expect(hurts.map(({ runs }) => runsInWords(runs))).toEqual(["runs past planner"]);
  });
});
