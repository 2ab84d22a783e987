/** Finds a local Ollama at its usual address, and its models. */

import { isObject, parseObject, textIn } from "@fairlead/wire/json";
import type { Clock } from "../../clock.ts";
import { HostError } from "../../errors.ts";
import type { Fetch } from "../../net/bounded-fetch.ts";

/** A running Ollama. */
export interface Ollama {
  /** The URL of its OpenAI-compatible API. */
  readonly baseUrl: string;
  readonly models: readonly string[];
}

const origin = "http://127.0.0.1:11434";
/** In milliseconds: a program on this machine answers sooner. */
const timeout = 500;

/** Returns the running Ollama; undefined if there is none. */
export async function findOllama(fetch: Fetch, clock: Clock, signal?: AbortSignal): Promise<Ollama | undefined> {
  const late = new AbortController();
  const callOff = clock.after(timeout, () => late.abort());
  const until = signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]);
  try {
    const response = await fetch(`${origin}/api/tags`, { signal: until });
    const listed = parseObject(await response.text())?.["models"];
    if (!response.ok || !Array.isArray(listed)) return undefined;
    const models = listed.flatMap((each) => (isObject(each) ? (textIn(each, "name") ?? []) : []));
    return { baseUrl: `${origin}/v1`, models };
  } catch (error) {
    if (signal?.aborted === true) throw new HostError("cancelled", "cancelled");
    // Most machines run no Ollama.
    if (error instanceof HostError) return undefined;
    throw error;
  } finally {
    callOff();
  }
}

/** Ollama's name of the wanted model; a name without a tag means the latest. */
export function ollamaModel({ models }: Ollama, wanted: string): string | undefined {
  return models.find((name) => name === wanted) ?? models.find((name) => name === `${wanted}:latest`);
}
