/** Which model an endpoint means when nobody has named one: the only one it has. */

import { isObject, parseObject, textIn } from "../auth/json-object.ts";
import { HostError } from "../errors.ts";
import type { Fetch } from "../net/bounded-fetch.ts";
import { endpointOf } from "./openai.ts";

const mostNamed = 8;

export async function onlyModelOf(baseUrl: string, apiKey: string | undefined, fetch: Fetch): Promise<string> {
  const url = endpointOf(baseUrl, "models");
  const known = await listModels(url, apiKey, fetch);
  const [only, ...others] = known;
  if (only !== undefined && others.length === 0) return only;
  const named = known.slice(0, mostNamed).join(", ");
  const all = known.length > mostNamed ? `${named} and ${known.length - mostNamed} more` : named;
  throw new HostError("model", `which model of ${url.origin}? It has ${all || "not said which it has"}`, {
    next: "Name one: --model NAME",
  });
}

/** None if the endpoint has no such list. */
async function listModels(url: URL, apiKey: string | undefined, fetch: Fetch): Promise<readonly string[]> {
  try {
    const response = await fetch(url, { headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {} });
    const listed = parseObject(await response.text())?.["data"];
    if (!response.ok || !Array.isArray(listed)) return [];
    return listed.flatMap((each) => (isObject(each) ? (textIn(each, "id") ?? []) : []));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new HostError("model", error.message, { next: "Start the server, or check OPENAI_BASE_URL.", cause: error });
  }
}
