import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, type LanguageModel, NoObjectGeneratedError, NoOutputGeneratedError, Output } from "ai";
import { Fault } from "../../shared/faults/fault.ts";
import type { ModelPort } from "../../shared/model/model-port.ts";
import type { ModelSettings } from "../env.ts";

/** Models through the Vercel AI SDK, one request an answer: its own retries are off, the state machine owns them. */
export function aiSdkModels(settings: ModelSettings): ModelPort {
  const modelOf = providerOf(settings);
  return {
    async answer({ model, name, instructions, data, output, outputTokensMax, signal }) {
      try {
        const result = await generateText({
          model: modelOf(settings.modelIdOf(model)),
          maxRetries: 0,
          system: instructions,
          prompt: data,
          output: Output.object({ schema: output, name }),
          maxOutputTokens: outputTokensMax,
          abortSignal: signal,
        });
        return {
          output: result.output,
          usage: { input_tokens: result.usage.inputTokens ?? 0, output_tokens: result.usage.outputTokens ?? 0 },
        };
      } catch (error) {
        throw invalidAnswer(name, error) ?? error;
      }
    },
  };
}

function providerOf({ provider, baseUrl, apiKey }: ModelSettings): (id: string) => LanguageModel {
  const address = baseUrl === undefined ? {} : { baseURL: baseUrl };
  const key = apiKey === undefined ? {} : { apiKey };
  switch (provider) {
    case "bedrock":
      return createAmazonBedrock({ ...address, ...key });
    case "anthropic":
      return createAnthropic({ ...address, ...key });
    case "openai-compatible":
      return createOpenAICompatible({
        name: "openai-compatible",
        baseURL: baseUrl ?? "",
        ...key,
        supportsStructuredOutputs: true,
      });
    default:
      return provider satisfies never;
  }
}

/** An answer that does not fit is asked for again within the node's budget. Only where it failed goes into the message, never the answer. */
function invalidAnswer(node: string, error: unknown): Fault | undefined {
  const invalid = NoObjectGeneratedError.isInstance(error) || NoOutputGeneratedError.isInstance(error);
  if (!invalid) return undefined;
  const cause = error.cause instanceof Error ? error.cause.name : "no cause given";
  return new Fault(
    "model_invalid_answer",
    "retryable",
    `the model of ${node} gave an answer that does not fit the node's schema (${cause})`,
    {
      facts: { node },
      cause: error,
    },
  );
}
