import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Exchange } from "./http-server.ts";

/** The rule of thumb for English text; real tokenizers differ, a deterministic number is what counts here. */
const CHARACTERS_PER_TOKEN = 4;

const Content = z.union([
  z.string(),
  z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  z.null(),
]);

/** The fields of a chat completion request that matter here; others are let through unread.
 *  https://platform.openai.com/docs/api-reference/chat/create */
export const ChatRequest = z.looseObject({
  model: z.string(),
  messages: z.array(z.looseObject({ role: z.string(), content: Content })).min(1),
  stream: z.literal(false, { error: "streaming is not offered here: ask without stream" }).optional(),
  response_format: z
    .looseObject({
      type: z.string(),
      json_schema: z.looseObject({ name: z.string() }).optional(),
    })
    .optional(),
});
export type ChatRequest = z.infer<typeof ChatRequest>;

/** The prompt as text, by role. */
export function promptOf(request: ChatRequest): { readonly system: string; readonly user: string } {
  const textOf = (...roles: readonly string[]) =>
    request.messages
      .filter(({ role }) => roles.includes(role))
      .map(({ content }) =>
        typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join(""),
      )
      .join("\n");
  return { system: textOf("system", "developer"), user: textOf("user") };
}

export function chatAnswer(exchange: Exchange, request: ChatRequest, content: string): void {
  const { system, user } = promptOf(request);
  const promptTokens = tokens(system) + tokens(user);
  const completionTokens = tokens(content);
  exchange.answer(200, {
    id: `chatcmpl-${randomUUID()}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model: request.model,
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    },
  });
}

export function chatError(exchange: Exchange, status: number, message: string, retryAfterSeconds?: number): void {
  const type = status === 429 ? "rate_limit_exceeded" : status >= 500 ? "server_error" : "invalid_request_error";
  const headers = retryAfterSeconds === undefined ? {} : { "retry-after": `${retryAfterSeconds}` };
  exchange.answer(status, { error: { message, type, param: null, code: null } }, headers);
}

function tokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}
