/** The `Model` for Anthropic's Messages API. */

import { parseObject } from "@fairlead/wire/json";
import { createRedactor } from "../../connect/redact.ts";
import { HostError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { Fetch } from "../../net/bounded-fetch.ts";
import type { Content, FunctionDeclaration } from "../../normalise/model-types.ts";
import { brokenOff, type ModelApi, type Refusal, readRefusal, toLostFailure, toRefusedEvent } from "../api-failure.ts";
import { type AttemptEvent, type AttemptOptions, withRetries } from "../attempts.ts";
import type { Model, StreamOptions } from "../model.ts";
import { eventDataIn } from "../model-fetch.ts";
import { endpointOf, type ModelListOptions, type ModelListPlace, readModelNames } from "../model-list.ts";
import { mapNamesOf, type NameMap } from "../tool-names.ts";
import { createAnthropicAnswer } from "./anthropic-answer.ts";
import {
  mostTokensIn,
  refusalInStream,
  refusedContent,
  toAnthropicProblem,
  toAnthropicRejection,
} from "./anthropic-failure.ts";
import { toAnthropicMessages, toAnthropicSystem, toAnthropicTools } from "./anthropic-messages.ts";

/** Options of `createAnthropicModel`. */
export interface AnthropicOptions extends AttemptOptions {
  readonly name: string;
  /** The base URL, without the version. Default: `https://api.anthropic.com`. */
  readonly baseUrl?: string | undefined;
  readonly apiKey: string;
  readonly fetch: Fetch;
  /** The clock, in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

/** Returns the URL of a path of the API, and the headers that every request needs. */
export function anthropicAccess(
  { baseUrl = "https://api.anthropic.com", apiKey }: Pick<AnthropicOptions, "baseUrl" | "apiKey">,
  path: string,
): { readonly url: URL; readonly headers: Readonly<Record<string, string>> } {
  return {
    url: endpointOf(baseUrl, `v1/${path}`),
    headers: { "x-api-key": apiKey, "anthropic-version": "2023-06-01" },
  };
}

/** What the model accepts. An answer of the API can only make it smaller. */
interface Accepted {
  readonly maxTokens: number;
  readonly hasMedia: boolean;
  readonly hasThoughts: boolean;
}

/** Creates a `Model` for Anthropic's Messages API. */
export function createAnthropicModel(options: AnthropicOptions): Model {
  const { name, fetch, now = Date.now } = options;
  const { url, headers } = anthropicAccess(options, "messages");
  const api = describeApi(options, url);
  // The API requires a limit and does not say which one a model has. 32 000 is the limit of the first Claude 4 models.
  let maxTokens = 32_000;

  function send(request: object, signal: AbortSignal): Promise<Response> {
    const body = JSON.stringify(request);
    return fetch(url, { method: "POST", headers: { ...headers, "content-type": "application/json" }, body, signal });
  }

  /** Sends the request. If the API says what the model does not accept, sends it once more without that. */
  async function ask(toBody: (accepted: Accepted) => object, signal: AbortSignal): Promise<Response | Refusal> {
    let accepted: Accepted = { maxTokens, hasMedia: true, hasThoughts: true };
    for (;;) {
      const response = await send(toBody(accepted), signal);
      if (response.ok) return response;
      const refusal = await readRefusal(response);
      const less = withLess(accepted, refusal);
      if (less === undefined) return refusal;
      accepted = less;
      maxTokens = less.maxTokens;
    }
  }

  async function* attempt(
    toBody: (accepted: Accepted) => object,
    names: NameMap,
    count: number,
    signal: AbortSignal,
  ): AsyncGenerator<AttemptEvent, void, undefined> {
    try {
      const answer = await ask(toBody, signal);
      yield* answer instanceof Response ? readAnswer(answer, names) : [toLastEvent(answer, count)];
    } catch (error) {
      yield { type: "failed", failure: toLostFailure(error, api) };
    }
  }

  async function* readAnswer(response: Response, names: NameMap): AsyncGenerator<AttemptEvent, void, undefined> {
    const answer = createAnthropicAnswer(names, name);
    for await (const data of eventDataIn(response)) {
      const event = parseObject(data);
      if (event === undefined) throw new Error(`an event is not JSON: ${data.slice(0, 200)}`);
      if (event["type"] === "error") {
        yield toLastEvent(refusalInStream(data), 0);
        return;
      }
      yield* answer.take(event);
    }
    yield* answer.end() ?? [{ type: "failed", failure: brokenOff(api) }];
  }

  function toLastEvent(refusal: Refusal, count: number): AttemptEvent {
    const problem = toAnthropicProblem(refusal, now());
    return toRefusedEvent(problem, toAnthropicRejection(problem, count), api);
  }

  return {
    provider: "anthropic",
    name,
    dialect: "anthropic",
    maxDeclarations: limits.declarations,
    // Newer models have more, but the API does not say how much.
    contextTokens: 200_000,
    stream(messages, tools, signal, given) {
      const names = mapNamesOf(tools, messages);
      const toBody = (accepted: Accepted): object => toRequest(name, messages, tools, names, accepted, given);
      return withRetries(() => attempt(toBody, names, tools.length, signal), signal, options);
    },
  };
}

function withLess(accepted: Accepted, refusal: Refusal): Accepted | undefined {
  const most = mostTokensIn(refusal);
  if (most !== undefined) return most < accepted.maxTokens ? { ...accepted, maxTokens: most } : undefined;
  const refused = refusedContent(refusal);
  if (refused === "media" && accepted.hasMedia) return { ...accepted, hasMedia: false };
  return refused === "thoughts" && accepted.hasThoughts ? { ...accepted, hasThoughts: false } : undefined;
}

function toRequest(
  model: string,
  messages: readonly Content[],
  tools: readonly FunctionDeclaration[],
  names: NameMap,
  { maxTokens, hasMedia, hasThoughts }: Accepted,
  { system = "" }: StreamOptions = {},
) {
  return {
    model,
    max_tokens: maxTokens,
    stream: true,
    system: toAnthropicSystem(system),
    messages: toAnthropicMessages(messages, { model, names, hasMedia, hasThoughts }),
    tools: tools.length > 0 ? toAnthropicTools(tools, names) : undefined,
  };
}

function describeApi({ name, apiKey, baseUrl }: AnthropicOptions, { origin }: URL): ModelApi {
  return {
    title: baseUrl === undefined ? "Anthropic's API" : origin,
    model: name,
    keyNext: `Check ANTHROPIC_API_KEY${baseUrl === undefined ? "; create a key at https://console.anthropic.com" : ""}.`,
    modelNext: "Choose another: --model NAME",
    reachNext:
      baseUrl === undefined
        ? "Check the network and the proxy."
        : "Check ANTHROPIC_BASE_URL, the network and the proxy.",
    redact: createRedactor([apiKey]),
  };
}

/** Where Anthropic's API has its list of models. */
export function anthropicModelList(options: Pick<AnthropicOptions, "baseUrl" | "apiKey">): ModelListPlace {
  const { url, headers } = anthropicAccess(options, "models");
  url.searchParams.set("limit", "1000");
  return { url, headers, reachNext: "Check ANTHROPIC_BASE_URL, the network and the proxy." };
}

/** Returns the newest Sonnet, else the newest model: the API lists newer models first. @throws HostError `model` */
export async function newestModelOf(list: ModelListPlace, options: ModelListOptions): Promise<string> {
  const models = await readModelNames(list, options);
  const name = models.find((each) => each.includes("sonnet")) ?? models[0];
  if (name !== undefined) return name;
  throw new HostError("model", `no model chosen for ${list.url.origin}: the endpoint gave no list of models`, {
    next: "Check ANTHROPIC_API_KEY, or name a model: --model claude-…",
  });
}
