/** A local Ollama at its usual address: whether it runs, and which models it has. */

import { isObject, parseObject, textIn } from "@fairlead/wire/json";
import type { Clock } from "../../clock.ts";
import { HostError } from "../../errors.ts";
import type { Fetch } from "../../net/bounded-fetch.ts";

export interface Ollama {
  /** Where it speaks like OpenAI. */
  readonly baseUrl: string;
  readonly models: readonly string[];
}

const origin = "http://127.0.0.1:11434";
/** Milliseconds: whoever runs on this machine answers sooner. */
const patience = 500;

/** Undefined if nobody is there. */
export async function findOllama(fetch: Fetch, clock: Clock, signal?: AbortSignal): Promise<Ollama | undefined> {
  const late = new AbortController();
  const callOff = clock.after(patience, () => late.abort());
  const until = signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]);
  try {
    const response = await fetch(`${origin}/api/tags`, { signal: until });
    const listed = parseObject(await response.text())?.["models"];
    if (!response.ok || !Array.isArray(listed)) return undefined;
    const models = listed.flatMap((each) => (isObject(each) ? (textIn(each, "name") ?? []) : []));
    return { baseUrl: `${origin}/v1`, models };
  } catch (error) {
    if (signal?.aborted === true) throw new HostError("cancelled", "cancelled");
    // Nobody there is what most people's machines answer.
    if (error instanceof HostError) return undefined;
    throw error;
  } finally {
    callOff();
  }
}

/** What Ollama calls a model that was asked for; a name without a tag is that of the latest. */
export function ollamaModel({ models }: Ollama, wanted: string): string | undefined {
  return models.find((name) => name === wanted) ?? models.find((name) => name === `${wanted}:latest`);
}
