/** A model of each adapter that gives the answers of a test, in front of a stand-in where it needs one. */

import {
  type AnthropicApi,
  anthropicApi,
  type GeminiApi,
  geminiApi,
  inTurn,
  type ModelAnswer,
  type OpenaiApi,
  openaiApi,
} from "@fairlead/test-servers";
import { onTestFinished } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { type AnthropicOptions, createAnthropicModel } from "../../src/model/anthropic/anthropic.ts";
import { createGeminiModel, type GeminiOptions } from "../../src/model/gemini/gemini.ts";
import type { Model } from "../../src/model/model.ts";
import { createModelFetch } from "../../src/model/model-fetch.ts";
import { createOpenaiModel, type OpenaiOptions } from "../../src/model/openai/openai.ts";

const fetch = createModelFetch({ env: {}, clock: systemClock });

interface Standing<Api> {
  readonly api: Api;
  readonly model: Model;
}

export async function geminiScene(
  settings: Parameters<typeof geminiApi>[0] = {},
  options: Partial<GeminiOptions> = {},
): Promise<Standing<GeminiApi>> {
  const api = await geminiApi(settings);
  onTestFinished(() => api[Symbol.asyncDispose]());
  const access = { kind: "key", apiKey: api.settings.apiKey, variable: "GEMINI_API_KEY" } as const;
  const name = "gemini-2.5-flash";
  const model = createGeminiModel({ name, access, baseUrl: api.baseUrl, fetch, clock: systemClock, ...options });
  return { api, model };
}

export async function openaiScene(
  settings: Parameters<typeof openaiApi>[0] = {},
  options: Partial<OpenaiOptions> = {},
): Promise<Standing<OpenaiApi>> {
  const api = await openaiApi(settings);
  onTestFinished(() => api[Symbol.asyncDispose]());
  const { apiKey } = api.settings;
  const model = createOpenaiModel({
    name: "test-model",
    baseUrl: api.baseUrl,
    apiKey,
    fetch,
    clock: systemClock,
    ...options,
  });
  return { api, model };
}

export async function anthropicScene(
  settings: Parameters<typeof anthropicApi>[0] = {},
  options: Partial<AnthropicOptions> = {},
): Promise<Standing<AnthropicApi>> {
  const api = await anthropicApi(settings);
  onTestFinished(() => api[Symbol.asyncDispose]());
  const { apiKey } = api.settings;
  const name = "claude-sonnet-test";
  const model = createAnthropicModel({ name, baseUrl: api.baseUrl, apiKey, fetch, clock: systemClock, ...options });
  return { api, model };
}

/** A model is told other names where its API takes fewer characters. */
export function inNarrowNames(answers: readonly ModelAnswer[]): ReturnType<typeof inTurn> {
  return inTurn(
    ...answers.map(({ pieces, ...rest }) => ({
      ...rest,
      pieces: pieces.map((piece) => ("call" in piece ? { ...piece, call: piece.call.replaceAll(".", "_") } : piece)),
    })),
  );
}
