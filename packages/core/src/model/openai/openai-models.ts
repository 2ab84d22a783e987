/** Finds a model if the user names none: the only model of an endpoint. Also finds the models of a local Ollama. */

import { isObject, parseObject, textIn } from "@fairlead/wire/json";
import type { Clock } from "../../clock.ts";
import { HostError } from "../../errors.ts";
import type { Fetch } from "../../net/bounded-fetch.ts";
import { endpointOf, type ModelListOptions, type ModelListPlace, readModelNames } from "../model-list.ts";

const mostNamed = 8;

/** Where an OpenAI-compatible endpoint has its list of models. */
export function openaiModelList(baseUrl: string, apiKey: string | undefined): ModelListPlace {
  return {
    url: endpointOf(baseUrl, "models"),
    headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
    reachNext: "Start the server, or check OPENAI_BASE_URL.",
  };
}

/** Returns the endpoint's only model. @throws HostError `model` if there is none or more than one */
export async function onlyModelOf(list: ModelListPlace, options: ModelListOptions): Promise<string> {
  const models = await readModelNames(list, options);
  const [only, ...others] = models;
  if (only !== undefined && others.length === 0) return only;
  const named = models.slice(0, mostNamed).join(", ");
  const all = models.length > mostNamed ? `${named} and ${models.length - mostNamed} more` : named;
  throw new HostError(
    "model",
    `no model chosen for ${list.url.origin}: the endpoint offers ${all || "no list of models"}`,
    { next: "Name one: --model NAME" },
  );
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
