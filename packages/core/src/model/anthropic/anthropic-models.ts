/** Finds a model of Anthropic's API if the user names none. */

import { HostError } from "../../errors.ts";
import { type ModelListOptions, type ModelListPlace, readModelNames } from "../model-list.ts";
import { type AnthropicOptions, anthropicAccess } from "./anthropic.ts";

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
