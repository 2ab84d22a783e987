/** The `Model` for endpoints with OpenAI's chat completions API. */

import { parseObject } from "@fairlead/wire/json";
import { createRedactor } from "../../connect/redact.ts";
import { limits } from "../../limits.ts";
import type { Fetch } from "../../net/bounded-fetch.ts";
import type { FunctionDeclaration } from "../../normalise/model-types.ts";
import { brokenOff, type ModelApi, type Refusal, readRefusal, toLostFailure, toRefusedEvent } from "../api-failure.ts";
import { type AttemptEvent, type AttemptOptions, withRetries } from "../attempts.ts";
import type { Model } from "../model.ts";
import { eventDataIn } from "../model-fetch.ts";
import { endpointOf } from "../model-list.ts";
import { mapNamesOf, type NameMap } from "../tool-names.ts";
import { createOpenaiAnswer } from "./openai-answer.ts";
import { toOpenaiProblem, toOpenaiRejection } from "./openai-failure.ts";
import { hasImages, type OpenaiMessage, toOpenaiMessages, toOpenaiTools } from "./openai-messages.ts";

/** Options of `createOpenaiModel`. */
export interface OpenaiOptions extends AttemptOptions {
  readonly name: string;
  /** The base URL, including the version: `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  /** The API key; most local servers need none. */
  readonly apiKey?: string | undefined;
  readonly fetch: Fetch;
  /** The clock, in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

/**
 * Creates a `Model` for any endpoint with OpenAI's chat completions API: Ollama, LM Studio, vLLM, llama.cpp or OpenAI
 * itself.
 */
export function createOpenaiModel(options: OpenaiOptions): Model {
  const { name, baseUrl, apiKey, fetch, now = Date.now } = options;
  const url = endpointOf(baseUrl, "chat/completions");
  const api = describeApi(options, url);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (apiKey) headers["authorization"] = `Bearer ${apiKey}`;

  function ask(request: object, signal: AbortSignal): Promise<Response> {
    return fetch(url, { method: "POST", headers, body: JSON.stringify(request), signal });
  }

  /**
   * Whether the model accepts images. If it does not, the endpoint rejects every conversation that contains an image.
   */
  let takesImages = true;

  async function send(request: OpenaiRequest, signal: AbortSignal): Promise<Response | Refusal> {
    const response = await ask({ ...request, stream_options: { include_usage: true } }, signal);
    if (response.ok) return response;
    const refusal = await readRefusal(response);
    // Sends the request again without `stream_options` if the endpoint rejects this member.
    if (!refusal.body.includes("stream_options")) return refusal;
    const second = await ask(request, signal);
    return second.ok ? second : readRefusal(second);
  }

  async function* attempt(
    toBody: (takesImages: boolean) => OpenaiRequest,
    names: NameMap,
    signal: AbortSignal,
  ): AsyncGenerator<AttemptEvent, void, undefined> {
    try {
      const request = toBody(takesImages);
      let answer = await send(request, signal);
      if (!(answer instanceof Response) && hasImages(request.messages) && isAboutImages(answer)) {
        const blind = await send(toBody(false), signal);
        if (blind instanceof Response) {
          takesImages = false;
          answer = blind;
        }
      }
      yield* answer instanceof Response ? readAnswer(answer, names) : [toLastEvent(answer, request)];
    } catch (error) {
      yield { type: "failed", failure: toLostFailure(error, api) };
    }
  }

  async function* readAnswer(response: Response, names: NameMap): AsyncGenerator<AttemptEvent, void, undefined> {
    const answer = createOpenaiAnswer(names);
    let saysDone = false;
    for await (const data of eventDataIn(response)) {
      saysDone ||= data.trim() === "[DONE]";
      if (saysDone) continue;
      const chunk = parseObject(data);
      if (chunk === undefined) throw new Error(`an event is not JSON: ${data.slice(0, 200)}`);
      if (chunk["error"] !== undefined) {
        yield toLastEvent({ status: 500, body: data });
        return;
      }
      yield* answer.take(chunk);
    }
    yield* answer.end(saysDone) ?? [{ type: "failed", failure: brokenOff(api) }];
  }

  function toLastEvent(refusal: Refusal, request?: OpenaiRequest): AttemptEvent {
    const problem = toOpenaiProblem(refusal, now());
    const names = (request?.tools ?? []).map((tool) => tool.function.name);
    return toRefusedEvent(problem, toOpenaiRejection(problem, names), api);
  }

  return {
    provider: "openai-compatible",
    name,
    dialect: "openai",
    maxDeclarations: url.hostname === "api.openai.com" ? 128 : limits.declarations,
    stream(messages, tools, signal, given) {
      const names = mapNamesOf(tools, messages);
      const toBody = (withImages: boolean): OpenaiRequest =>
        toRequest(name, tools, names, toOpenaiMessages(messages, names, { ...given, takesImages: withImages }));
      return withRetries(() => attempt(toBody, names, signal), signal, options);
    },
  };
}

type OpenaiRequest = ReturnType<typeof toRequest>;

function toRequest(
  model: string,
  tools: readonly FunctionDeclaration[],
  names: NameMap,
  messages: readonly OpenaiMessage[],
) {
  return {
    model,
    stream: true,
    messages,
    // Endpoints reject an empty list of tools.
    tools: tools.length > 0 ? toOpenaiTools(tools, names) : undefined,
  };
}

function isAboutImages({ status, body }: Refusal): boolean {
  return status !== 429 && /image|vision|multi-?modal/i.test(body);
}

function describeApi({ name, apiKey }: OpenaiOptions, { origin, port, hostname }: URL): ModelApi {
  const isLocal = /^(?:localhost|127\.|\[::1\])/.test(hostname);
  return {
    title: origin,
    model: name,
    keyNext: apiKey ? "Check OPENAI_API_KEY." : "Set OPENAI_API_KEY.",
    modelNext: port === "11434" ? `ollama pull ${name}` : "Choose another: --model NAME",
    reachNext: isLocal
      ? `Start the server, or check OPENAI_BASE_URL (${origin}).`
      : "Check OPENAI_BASE_URL, the network and the proxy.",
    redact: createRedactor(apiKey ? [apiKey] : []),
  };
}
