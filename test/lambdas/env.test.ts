import { describe, expect, test } from "vitest";
import { readAgentNames, readModelSettings, readStateMachines, readTables } from "../../lambdas/env.ts";

describe("the model settings", () => {
  test("are Bedrock with one model for every name where nothing is said", () => {
    const settings = readModelSettings({});

    expect(settings).toMatchObject({ provider: "bedrock", baseUrl: undefined, apiKey: undefined });
    expect(settings.modelIdOf("default")).toBe("us.anthropic.claude-sonnet-4-5-20250929-v1:0");
    expect(settings.modelIdOf("careful")).toBe(settings.modelIdOf("default"));
  });

  test("an empty text is the same as nothing said", () => {
    const settings = readModelSettings({
      SUREFOOT_MODEL_PROVIDER: "",
      SUREFOOT_MODEL_BASE_URL: "",
      SUREFOOT_MODEL_API_KEY: "",
      SUREFOOT_MODELS: "",
    });

    expect(settings).toMatchObject({ provider: "bedrock", baseUrl: undefined, apiKey: undefined });
    expect(settings.modelIdOf("default")).toMatch(/claude/);
  });

  test("one id serves every name, an object gives each name its own, and its default the others", () => {
    const one = readModelSettings({ SUREFOOT_MODELS: "my-model" });
    const byName = readModelSettings({ SUREFOOT_MODELS: '{"default":"small","careful":"large"}' });

    expect([one.modelIdOf("a"), one.modelIdOf("b")]).toEqual(["my-model", "my-model"]);
    expect([byName.modelIdOf("careful"), byName.modelIdOf("b")]).toEqual(["large", "small"]);
  });

  test.each<[string, Record<string, string>, RegExp]>([
    [
      "an unknown provider",
      { SUREFOOT_MODEL_PROVIDER: "openai" },
      /^SUREFOOT_MODEL_PROVIDER: expected one of bedrock, anthropic, openai-compatible, found "openai"$/,
    ],
    [
      "a compatible endpoint without an address",
      { SUREFOOT_MODEL_PROVIDER: "openai-compatible" },
      /^SUREFOOT_MODEL_BASE_URL is missing: an OpenAI-compatible endpoint has no default address/,
    ],
    [
      "a compatible endpoint with an empty address",
      { SUREFOOT_MODEL_PROVIDER: "openai-compatible", SUREFOOT_MODEL_BASE_URL: "" },
      /^SUREFOOT_MODEL_BASE_URL is missing/,
    ],
    [
      "an address that is none",
      { SUREFOOT_MODEL_PROVIDER: "openai-compatible", SUREFOOT_MODEL_BASE_URL: "localhost:11434/v1" },
      /^SUREFOOT_MODEL_BASE_URL: expected an http or https address, found "localhost:11434\/v1"$/,
    ],
    ["a list of models", { SUREFOOT_MODELS: '{"default":["a"]}' }, /^SUREFOOT_MODELS does not hold the JSON object/],
    ["broken JSON", { SUREFOOT_MODELS: '{"default":' }, /^SUREFOOT_MODELS does not hold the JSON object/],
  ])("%s stops the function and names the setting", (_what, env, message) => {
    expect(() => readModelSettings(env)).toThrow(message);
  });

  test.each<[string, Record<string, string>]>([
    ["a provider without a default model", { SUREFOOT_MODEL_PROVIDER: "anthropic" }],
    ["an object without a default", { SUREFOOT_MODELS: '{"careful":"large"}' }],
  ])("%s: a name without a model is named, with what to set", (_what, env) => {
    expect(() => readModelSettings(env).modelIdOf("draft")).toThrow(
      /^SUREFOOT_MODELS names no model for "draft": set it to one model id, or to JSON .*"default"/,
    );
  });
});

describe("the other settings", () => {
  test.each([undefined, ""])("a table that is %j is named", (name) => {
    expect(() => readTables({ SUREFOOT_RUNS_TABLE: "runs", SUREFOOT_LEDGER_TABLE: name })).toThrow(
      /^SUREFOOT_LEDGER_TABLE is not set$/,
    );
  });

  test.each(["", "[]x", '{"a":1}', "null"])("state machines as %j are named", (text) => {
    expect(() => readStateMachines({ SUREFOOT_STATE_MACHINES: text })).toThrow(/^SUREFOOT_STATE_MACHINES /);
  });

  test("agents' names come apart at commas", () => {
    expect(readAgentNames({ SUREFOOT_AGENT_NAMES: "a,b" })).toEqual(["a", "b"]);
  });
});
