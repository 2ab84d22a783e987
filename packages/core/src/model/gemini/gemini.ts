/** The `Model` for Gemini, through the Gemini API or Vertex AI. */

import type { GenerateContentConfig, GoogleGenAI } from "@google/genai/web";
import { createRedactor } from "../../connect/redact.ts";
import { limits } from "../../limits.ts";
import type { Fetch } from "../../net/bounded-fetch.ts";
import type { Content, FunctionDeclaration, Part } from "../../normalise/model-types.ts";
import { brokenOff, type ModelApi, type Refusal, readRefusal, toLostFailure, toRefusedEvent } from "../api-failure.ts";
import { type AttemptEvent, type AttemptOptions, withRetries } from "../attempts.ts";
import type { Model, StreamOptions } from "../model.ts";
import { endpointOf, type ModelListPlace } from "../model-list.ts";
import { createGeminiAnswer } from "./gemini-answer.ts";
import { toGeminiProblem, toGeminiRejection } from "./gemini-failure.ts";

/** Options of `createGeminiModel`. */
export interface GeminiOptions extends AttemptOptions {
  readonly name: string;
  readonly access: GeminiAccess;
  /** The base URL to use instead of Google's own. */
  readonly baseUrl?: string;
  readonly fetch: Fetch;
  /** The clock, in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

/** Creates a `Model` for the Gemini API. Google's package is loaded with the first request. */
export function createGeminiModel(options: GeminiOptions): Model {
  const { name, access, baseUrl, fetch, now = Date.now } = options;
  const generation = Number(/(?:^|\/)gemini-(\d+(?:\.\d+)?)/.exec(name)?.[1] ?? 0);
  const takesMediaInResponses = generation >= 3;
  const api = describeApi(options);

  function toLastEvent(
    error: unknown,
    refusal: Refusal | undefined,
    tools: readonly FunctionDeclaration[],
  ): AttemptEvent {
    if (refusal === undefined) return { type: "failed", failure: toLostFailure(error, api) };
    const problem = toGeminiProblem(refusal, now());
    return toRefusedEvent(problem, toGeminiRejection(problem, tools), api);
  }

  async function* attempt(
    contents: Content[],
    tools: readonly FunctionDeclaration[],
    config: GenerateContentConfig,
    signal: AbortSignal,
  ): AsyncGenerator<AttemptEvent, void, undefined> {
    // Aborted after the answer, to close the connection. Google's package would leave it open.
    const left = new AbortController();
    const abortSignal = AbortSignal.any([signal, left.signal]);
    let refusal: Refusal | undefined;
    const answer = createGeminiAnswer();
    try {
      const client = await openGemini(access, baseUrl, async (url, init) => {
        const response = await fetch(url, init);
        if (response.ok) return response;
        refusal = await readRefusal(response);
        return new Response(refusal.body, { status: refusal.status });
      });
      const chunks = await client.models.generateContentStream({
        model: modelPath(access, name),
        contents,
        config: { ...config, abortSignal },
      });
      for await (const chunk of chunks) yield* answer.take(chunk);
      yield* answer.end() ?? [{ type: "failed", failure: brokenOff(api) }];
    } catch (error) {
      yield toLastEvent(error, refusal ?? refusalIn(error), tools);
    } finally {
      left.abort();
    }
  }

  return {
    provider: "gemini",
    name,
    dialect: "gemini",
    maxDeclarations: limits.declarations,
    contextTokens: 1_048_576,
    stream(messages, tools, signal, given = {}) {
      const contents = toContents(messages, takesMediaInResponses);
      const config = toConfig(tools, given, generation >= 2.5);
      return withRetries(() => attempt(contents, tools, config, signal), signal, options);
    },
  };
}

function toConfig(
  tools: readonly FunctionDeclaration[],
  { system = "" }: StreamOptions,
  thinks: boolean,
): GenerateContentConfig {
  return {
    /*
     * Google's package must not send further requests on its own to continue an answer. Fairlead decides when to send a
     * request again, and tells the user.
     */
    automaticContinuation: false,
    systemInstruction: system || undefined,
    tools: tools.length > 0 ? [{ functionDeclarations: [...tools] }] : undefined,
    // Asks for thoughts only if the model thinks, because older models reject `thinkingConfig`.
    thinkingConfig: thinks ? { includeThoughts: true } : undefined,
  };
}

/**
 * Removes thoughts without a signature of this API, because they are only for the user. Removes empty messages, because
 * the API rejects them.
 */
function toContents(messages: readonly Content[], takesMediaInResponses: boolean): Content[] {
  return messages
    .map(({ role, parts }) => ({
      role,
      parts: parts.filter((part) => part.thought !== true || isGeminiSignature(part.thoughtSignature)),
    }))
    .flatMap((content) => (takesMediaInResponses ? [content] : withMediaBeside(content)))
    .filter(({ parts }) => parts.length > 0);
}

/** Google's signatures are Base64. After a change of the model, the history may contain signatures of another API. */
function isGeminiSignature(signature: string | undefined): boolean {
  return signature !== undefined && /^[\w+/=-]*$/.test(signature);
}

/**
 * Moves media from inside a function response to after it. If there are several responses, the media gets a message of
 * its own, because the API would count it as another response.
 */
function withMediaBeside({ role, parts }: Content): Content[] {
  const media = parts.flatMap(({ functionResponse }): Part[] => functionResponse?.parts ?? []);
  if (media.length === 0) return [{ role, parts }];
  const bare = parts.map((part) => {
    const { parts: _media, ...functionResponse } = part.functionResponse ?? {};
    return part.functionResponse === undefined ? part : { ...part, functionResponse };
  });
  return bare.length === 1
    ? [{ role, parts: [...bare, ...media] }]
    : [
        { role, parts: bare },
        { role, parts: media },
      ];
}

/** Reads an error that arrives within a stream. Google's package puts its own text before the error. */
function refusalIn(error: unknown): Refusal | undefined {
  if (!(error instanceof Error) || error.name !== "ApiError") return undefined;
  const status = "status" in error && typeof error.status === "number" ? error.status : 500;
  return { status, body: error.message.slice(Math.max(0, error.message.indexOf("{"))) };
}

function describeApi({ name, access }: GeminiOptions): ModelApi {
  const isVertex = access.kind === "vertex" || access.isVertex === true;
  return {
    title: isVertex ? "Vertex AI" : "the Gemini API",
    model: name,
    keyNext:
      access.kind === "key"
        ? `Check ${access.variable}${isVertex ? "" : "; create a key at https://aistudio.google.com/apikey"}.`
        : `Check that your account may use Vertex AI in the project "${access.project}", or sign in: gcloud auth application-default login`,
    modelNext: `Choose another: --model gemini-2.5-flash`,
    reachNext: "Check the network and the proxy.",
    redact: createRedactor(access.kind === "key" ? [access.apiKey] : []),
  };
}

/**
 * Loads Google's package in its build for browsers, because the build for Node reads the environment and writes to
 * stdout. The package does not get the API key: Fairlead's own `fetch` adds the key to each request.
 */
async function openGemini(access: GeminiAccess, baseUrl: string | undefined, fetch: Fetch): Promise<GoogleGenAI> {
  const { GoogleGenAI } = await import("@google/genai/web");
  const base = baseUrl ?? (access.kind === "vertex" ? vertexAddress(access.location) : undefined);
  return new GoogleGenAI({
    apiKey: "Fairlead's own fetch adds the API key",
    vertexai: access.kind === "vertex" || access.isVertex === true,
    httpOptions: {
      baseUrl: base,
      fetch: async (address, init = {}) => {
        const headers = new Headers(init.headers);
        headers.delete("x-goog-api-key");
        for (const [name, value] of Object.entries(await credentialsOf(access))) headers.set(name, value);
        return fetch(address instanceof Request ? address.url : address, { ...init, headers });
      },
    },
  });
}

async function credentialsOf(access: GeminiAccess): Promise<Readonly<Record<string, string>>> {
  return access.kind === "key" ? { "x-goog-api-key": access.apiKey } : access.authorize();
}

function vertexAddress(location: string): string {
  if (location === "global") return "https://aiplatform.googleapis.com";
  if (location === "us" || location === "eu") return `https://aiplatform.${location}.rep.googleapis.com`;
  return `https://${location}-aiplatform.googleapis.com`;
}

/** The API and its credentials. */
export type GeminiAccess =
  | {
      readonly kind: "key";
      readonly apiKey: string;
      /** The name of the environment variable with the key, for messages. */
      readonly variable: string;
      /** Whether the key is for Vertex AI in express mode, and not for the Gemini API. */
      readonly isVertex?: boolean;
    }
  | {
      readonly kind: "vertex";
      readonly project: string;
      readonly location: string;
      /** Returns the authorization headers of the user's Google account. */
      readonly authorize: () => Promise<Readonly<Record<string, string>>>;
    };

/** The model's name in the form that the URL of a request needs. */
function modelPath(access: GeminiAccess, name: string): string {
  if (access.kind === "key" || /^(?:projects|publishers)\//.test(name)) return name;
  return `projects/${access.project}/locations/${access.location}/publishers/google/models/${name}`;
}

/** Where the Gemini API has its list of models. Undefined for Vertex AI, which has no list of Google's models. */
export function geminiModelList(
  access: GeminiAccess,
  baseUrl = "https://generativelanguage.googleapis.com",
): ModelListPlace | undefined {
  if (access.kind === "vertex" || access.isVertex === true) return undefined;
  const url = endpointOf(baseUrl, "v1beta/models");
  url.searchParams.set("pageSize", "1000");
  return { url, headers: { "x-goog-api-key": access.apiKey }, reachNext: "Check the network and the proxy." };
}
