import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { WriteTool } from "../../../shared/agent/tool.ts";
import { contractDigest, manifestOf } from "../../../shared/contract/manifest.ts";
import { defineAgent, definePrompt, none, writeTool } from "../../../shared/index.ts";
import { emptyWorld, Plan, Refund, refundAgent, RefundRequest } from "../../builders/agents.ts";
import { asking, count, start } from "../agent/shop.ts";
import { type Parts, paymentAgent, paymentTool, plannerPrompt, riskCheck } from "./payment-agent.ts";

const write = (changed: object = {}): WriteTool<RefundRequest, Refund> =>
  writeTool("create_refund", {
    version: 3,
    risk: "high",
    input: RefundRequest,
    output: Refund,
    downstream: none(),
    semanticFields: ["paymentId", "amountCents"],
    execute: async () => ({ id: "re_1", amountCents: 1 }),
    ...changed,
  });
const request = () => ({ paymentId: "pay_1", amountCents: 1 });
describe("a manifest", () => {
  const world = emptyWorld();
  const manifest = manifestOf(refundAgent(world));

  it("says what a run relies on: nodes with their order and edges, tools, prompts", () => {
    expect(manifest).toMatchObject({
      workflow_name: "refund-agent",
      workflow_version: 1,
      checkpoint_schema_version: 1,
    });
    expect(manifest.nodes.map((node) => [node.name, node.kind, node.leads_to])).toEqual([
      ["plan", "model", ["order"]],
      ["order", "read", ["draft"]],
      ["draft", "model", ["review"]],
      ["review", "approval", ["refund", "plan"]],
      ["refund", "write", ["notify"]],
      ["notify", "write", ["verify"]],
      ["verify", "read", ["finalize"]],
      ["finalize", "model", ["end"]],
    ]);
    expect(manifest.tools.map((tool) => [tool.name, tool.version])).toEqual([
      ["create_refund", 3],
      ["lookup_order", 1],
      ["lookup_refund", 1],
      ["send_mail", 1],
    ]);
    expect(manifest.prompts.map((entry) => [entry.name, entry.release])).toEqual([
      ["draft", 1],
      ["plan", 1],
      ["summary", 1],
    ]);
    expect(manifest.nodes.every((node) => /^[0-9a-f]{16}$/u.test(node.fingerprint))).toBe(true);
  });

  it("is the same every time, and plain JSON", () => {
    expect(manifestOf(refundAgent(emptyWorld()))).toEqual(manifest);
    expect(JSON.parse(JSON.stringify(manifest))).toEqual(manifest);
    expect(contractDigest(refundAgent(emptyWorld()))).toBe(contractDigest(refundAgent(world)));
    expect(contractDigest(refundAgent(world))).toMatch(/^[0-9a-f]{64}$/u);
  });

  it("has a digest that tells versions, edges, prompt releases and inputs apart", () => {
    const agent = (version: number, release: number, input: z.ZodType) =>
      contractDigest(
        defineAgent("shop", { version, input })
          .model("m", { prompt: definePrompt("p", { release, text: "t", data: () => ({}) }), output: Plan })
          .route("where", { to: ["a", "end"], choose: () => "end" })
          .compute("a", count)
          .end(),
      );
    const rerouted = contractDigest(
      defineAgent("shop", { version: 1, input: Plan })
        .model("m", { prompt: definePrompt("p", { release: 1, text: "t", data: () => ({}) }), output: Plan })
        .route("where", { to: ["a", "end", "m"], choose: () => "end" })
        .compute("a", count)
        .end(),
    );
    const digests = [agent(1, 1, Plan), agent(2, 1, Plan), agent(1, 2, Plan), agent(1, 1, Refund), rerouted];
    expect(new Set(digests).size).toBe(5);
  });

  it("does not change when nothing in the contract does: runs in flight hold these very fingerprints", () => {
    expect(Object.fromEntries(manifest.nodes.map((node) => [node.name, node.fingerprint]))).toEqual({
      plan: "1064e5c703b3bf43",
      order: "b81c8f3c55061b7e",
      draft: "b0b187102d103cfb",
      review: "f538dfce3a4b38cc",
      refund: "281fc227f67ff359",
      notify: "2ca15ada48c59683",
      verify: "11eea99a2767af6a",
      finalize: "b226a3c0bc82ec16",
    });
  });

  it("has everything that matters and is in no fingerprint, each by its name", () => {
    const { nodes, tools, models, steps_max, entry } = manifest;
    expect([entry, steps_max]).toEqual(["plan", 200]);
    expect(models).toEqual([{ name: "default", asked_by: ["plan", "draft", "finalize"] }]);
    const details = Object.fromEntries(nodes.map((node) => [node.name, node.details]));
    expect(details).toMatchObject({
      plan: { prompt: "plan", model: "default", attempts_max: 3, timeout_ms: 60_000, output_tokens_max: 2_000 },
      order: { tool: "lookup_order@1" },
      review: { of: "refund", only_when: true, valid_for_ms: 604_800_000 },
      refund: { tool: "create_refund@3", business_key: true, precondition: true },
      notify: { tool: "send_mail@1", business_key: true },
    });
    expect(nodes.find(({ name }) => name === "review")?.answers).toEqual({
      approved: "refund",
      rejected: "plan",
      expired: "plan",
      stale: "plan",
    });
    expect(tools.find(({ name }) => name === "create_refund")).toMatchObject({
      effect: "write",
      details: {
        capability: "key",
        window_ms: 86_400_000,
        settle_ms: 0,
        external_ref: true,
        risk: "high",
        scope: "run",
        semantic_fields: ["amountCents", "paymentId"],
        attempts_max: 3,
        timeout_ms: 10_000,
      },
    });
  });

  it("leaves out what is not there or as usual, so that a manifest from before a detail existed says the same", () => {
    const own = (over: object) =>
      manifestOf(
        start()
          .approval("ask", { ...asking, of: "w", ...over })
          .write("w", { tool: write(), with: request })
          .end(),
      ).nodes[0]?.details;
    const plain = { of: "w", valid_for_ms: 86_400_000 };
    expect(own({})).toEqual(plain);
    expect(own({ approvers: { quorum: 1, roles: [], excludeRequester: false } })).toEqual(plain);
    expect(own({ approvers: { quorum: 2, roles: ["b", "a"], names: ["kim"], excludeRequester: true } })).toEqual({
      ...plain,
      approver_names: ["kim"],
      approver_roles: ["a", "b"],
      excludes_requester: true,
      quorum: 2,
    });
  });

  it("resolves each digest of a schema to the schema, without words for people", () => {
    const described = z.object({ b: z.string().describe("said"), a: z.number() });
    const { nodes, schemas } = manifestOf(
      start()
        .compute("c", { output: described, run: () => ({ b: "", a: 1 }) })
        .end(),
    );
    expect(schemas[String(nodes[0]?.details["output"])]).toEqual({
      type: "object",
      additionalProperties: false,
      properties: { a: { type: "number" }, b: { type: "string" } },
      required: ["a", "b"],
    });
  });

  it("says three versions in one value each, which change with what they stand for and with nothing else", () => {
    const versions = (parts: Parts) => {
      const { tool_catalog_version, prompt_release, model_policy_version } = manifestOf(paymentAgent(parts));
      return [tool_catalog_version, prompt_release, model_policy_version];
    };
    const [tools, prompts, models] = versions({});
    const other = expect.stringMatching(/^[0-9a-f]{16}$/);
    const differs = (...versionsNow: readonly (string | undefined)[]) =>
      versionsNow.map((now, index) => now !== [tools, prompts, models][index]);
    expect([tools, prompts, models]).toEqual([other, other, other]);
    expect(versions({ version: 8, before: { end: riskCheck } })).toEqual([tools, prompts, models]);
    expect(differs(...versions({ payment: { tool: paymentTool({ attempts: 9 }) } }))).toEqual([true, false, false]);
    expect(differs(...versions({ planner: { prompt: plannerPrompt({ release: 2 }) } }))).toEqual([false, true, false]);
    expect(differs(...versions({ planner: { model: "large" } }))).toEqual([false, false, true]);
    expect(differs(...versions({ planner: { outputTokens: 9 } }))).toEqual([false, false, true]);
  });
});
