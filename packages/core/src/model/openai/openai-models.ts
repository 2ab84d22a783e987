/** Finds a model if the user names none: the only model of an endpoint. Also finds the models of a local Ollama. */

import { isObject, parseObject, textIn } from "@fairlead/wire/json";
import type { Clock } from "../../clock.ts";
import { HostError } from "../../errors.ts";
import type { Fetch } from "../../net/bounded-fetch.ts";
import { endpointOf } from "./openai.ts";

const mostNamed = 8;
const next = "Name one: --model NAME";

/** Milliseconds to wait for a list of models. */
const timeout = 10_000;

/** The API key and the `fetch` for reading an endpoint's list of models. */
export interface ModelListOptions {
  readonly apiKey: string | undefined;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/** Returns the endpoint's only model. @throws HostError `model` if there is none or more than one */
export async function onlyModelOf(baseUrl: string, options: ModelListOptions): Promise<string> {
  const url = endpointOf(baseUrl, "models");
  const models = await listModels(url, options);
  const [only, ...others] = models;
  if (only !== undefined && others.length === 0) return only;
  const named = models.slice(0, mostNamed).join(", ");
  const all = models.length > mostNamed ? `${named} and ${models.length - mostNamed} more` : named;
  throw new HostError("model", `no model chosen for ${url.origin}: the endpoint offers ${all || "no list of models"}`, {
    next,
  });
}

async function listModels(url: URL, { apiKey, fetch, clock, signal }: ModelListOptions): Promise<readonly string[]> {
  const late = new AbortController();
  const callOff = clock.after(timeout, () => late.abort());
  const until = signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]);
  try {
    const headers = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
    const response = await fetch(url, { headers, signal: until });
    const listed = parseObject(await response.text())?.["data"];
    if (!response.ok || !Array.isArray(listed)) return [];
    return listed.flatMap((each) => (isObject(each) ? (textIn(each, "id") ?? []) : []));
  } catch (error) {
    if (signal?.aborted === true) throw new HostError("cancelled", "cancelled");
    if (late.signal.aborted)
      throw new HostError("model", `${url.origin} sent no list of models within ${timeout / 1000} s`, {
        next,
      });
    if (!(error instanceof HostError)) throw error;
    throw new HostError("model", error.message, { next: "Start the server, or check OPENAI_BASE_URL.", cause: error });
  } finally {
    callOff();
  }
}

/** A running Ollama. */
export interface Ollama {
  /** The URL of Ollama's OpenAI-compatible API. */
  readonly baseUrl: string;
  readonly models: readonly string[];
}

const origin = "http://127.0.0.1:11434";
/** Milliseconds to wait for Ollama. The time is short, because a program on this machine answers quickly. */
const ollamaTimeout = 500;

/** Returns the URL and the models of the Ollama that runs on this machine; undefined if none runs. */
export async function findOllama(fetch: Fetch, clock: Clock, signal?: AbortSignal): Promise<Ollama | undefined> {
  const late = new AbortController();
  const callOff = clock.after(ollamaTimeout, () => late.abort());
  const until = signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]);
  try {
    const response = await fetch(`${origin}/api/tags`, { signal: until });
    const listed = parseObject(await response.text())?.["models"];
    if (!response.ok || !Array.isArray(listed)) return undefined;
    const models = listed.flatMap((each) => (isObject(each) ? (textIn(each, "name") ?? []) : []));
    return { baseUrl: `${origin}/v1`, models };
  } catch (error) {
    if (signal?.aborted === true) throw new HostError("cancelled", "cancelled");
    // Ignores the error, because most machines do not run Ollama.
    if (error instanceof HostError) return undefined;
    throw error;
  } finally {
    callOff();
  }
}

/**
 * Ollama's full name of the wanted model; undefined if Ollama does not have it. Without a tag, `wanted` means
 * `:latest`.
 */
export function ollamaModel({ models }: Ollama, wanted: string): string | undefined {
  return models.find((name) => name === wanted) ?? models.find((name) => name === `${wanted}:latest`);
}
