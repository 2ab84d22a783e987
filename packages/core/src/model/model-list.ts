/** Reads the names of the models that an API offers. */

import { isObject, parseObject, textIn } from "@fairlead/wire/json";
import type { Clock } from "../clock.ts";
import { HostError } from "../errors.ts";
import type { Fetch } from "../net/bounded-fetch.ts";

/** Milliseconds to wait for a list of models. */
const timeout = 10_000;
/** The most names that are read from one list. */
const mostNames = 500;

/** The `fetch` and the signal for reading a list of models. */
export interface ModelListOptions {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/** Where an API has its list of models. */
export interface ModelListPlace {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The user's next step if the API cannot be reached. */
  readonly reachNext: string;
}

/**
 * Reads the list: objects with an `id` or a `name` in the member `data` or `models`. Returns an empty list if the
 * endpoint has none.
 *
 * @throws HostError `model` if the endpoint cannot be reached or does not answer in time; `cancelled`
 */
export async function readModelNames(
  { url, headers, reachNext }: ModelListPlace,
  { fetch, clock, signal }: ModelListOptions,
): Promise<readonly string[]> {
  const late = new AbortController();
  const callOff = clock.after(timeout, () => late.abort());
  const until = signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]);
  try {
    const response = await fetch(url, { headers, signal: until });
    const { data, models = data } = parseObject(await response.text()) ?? {};
    return response.ok && Array.isArray(models) ? models.flatMap(nameIn).slice(0, mostNames) : [];
  } catch (error) {
    if (signal?.aborted === true) throw new HostError("cancelled", "cancelled");
    if (late.signal.aborted)
      throw new HostError("model", `${url.origin} sent no list of models within ${timeout / 1000} s`, {
        next: "Name one: --model NAME",
      });
    if (!(error instanceof HostError)) throw error;
    throw new HostError("model", error.message, { next: reachNext, cause: error });
  } finally {
    callOff();
  }
}

/** The name of a listed model. Leaves out names that cannot be typed, and models that only embed text. */
function nameIn(entry: unknown): readonly string[] {
  const name = textIn(entry, "id") ?? textIn(entry, "name")?.replace(/^models\//, "");
  if (name === undefined || !/^[^\s\p{C}]{1,200}$/u.test(name)) return [];
  const methods = isObject(entry) ? entry["supportedGenerationMethods"] : undefined;
  return Array.isArray(methods) && !methods.includes("generateContent") ? [] : [name];
}

/** Returns the URL of a path below the base URL, and keeps the query of the base URL. */
export function endpointOf(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/${path}`;
  return url;
}
