/** Chooses the model from `--model` and the environment variables, and lists the models to choose from. */

import type { Clock } from "../clock.ts";
import { HostError } from "../errors.ts";
import type { Fetch } from "../net/bounded-fetch.ts";
import type { Environment } from "../settings/read/paths.ts";
import { configuredEndpoints, type EndpointOptions } from "./endpoints.ts";
import type { Model } from "./model.ts";
import { createModelFetch } from "./model-fetch.ts";
import { createOpenaiModel } from "./openai/openai.ts";
import { findOllama, type Ollama, ollamaModel } from "./openai/openai-models.ts";

/** Options of `chooseModel`. Only Vertex AI needs the members of `Environment` other than `env`. */
export interface ChooseOptions extends Pick<Environment, "env">, Partial<Omit<Environment, "env">> {
  /** The model's name from `--model`. */
  readonly wanted?: string | undefined;
  readonly fetch?: Fetch;
  readonly clock: Clock;
  /** Stops the search; `chooseModel` rejects with `cancelled`. */
  readonly signal?: AbortSignal;
}

/** The result of `chooseModel`: a model, an offer to use a local Ollama, or the user's next step to get a model. */
export type ModelChoice =
  | { readonly kind: "model"; readonly model: Model }
  /** No environment variable names a model, but Ollama runs on this machine. */
  | { readonly kind: "offer"; readonly ollama: Ollama }
  | { readonly kind: "none"; readonly next: string };

/**
 * Chooses Gemini, an endpoint with OpenAI's API, or Anthropic, if environment variables configure one. If they configure
 * several, the form of the name decides. Otherwise looks for Ollama on this machine. Returns an Ollama model if `wanted`
 * names it, and `offer` if `wanted` names none of Ollama's models. Returns `none` if Ollama does not run or has no
 * models.
 *
 * @throws HostError `model` if the environment names a model that cannot be used; `cancelled`
 *
 * @example
 * ```ts
 * import { chooseModel, systemClock } from "@fairlead/core";
 *
 * const choice = await chooseModel({ env: process.env, clock: systemClock });
 * if (choice.kind === "model") console.log(choice.model.name);
 * ```
 */
export async function chooseModel(options: ChooseOptions): Promise<ModelChoice> {
  const { wanted = "" } = options;
  const given = toEndpointOptions(options);
  const endpoints = configuredEndpoints(given);
  const endpoint =
    wanted === ""
      ? endpoints[0]
      : (endpoints.find(({ ownNames }) => ownNames?.test(wanted)) ??
        endpoints.find(({ ownNames }) => ownNames === undefined) ??
        endpoints[0]);
  if (endpoint !== undefined) return { kind: "model", model: endpoint.create(wanted || (await endpoint.usualName())) };
  const ollama = await findOllama(given.fetch, given.clock, options.signal);
  if (ollama === undefined || ollama.models.length === 0) return { kind: "none", next: nextWithout(ollama) };
  const name = wanted === "" ? undefined : ollamaModel(ollama, wanted);
  return name === undefined ? { kind: "offer", ollama } : { kind: "model", model: fromOllama(ollama, given)(name) };
}

/** The models to choose from, and the errors of the endpoints that gave no list. */
export interface ModelList {
  readonly models: readonly Model[];
  readonly problems: readonly HostError[];
}

/**
 * Lists the models of every configured API, or of Ollama if no API is configured.
 *
 * @throws HostError `model` if a variable is invalid; `cancelled`
 */
export async function listModels(options: ChooseOptions): Promise<ModelList> {
  const given = toEndpointOptions(options);
  const endpoints = configuredEndpoints(given);
  if (endpoints.length === 0) {
    const ollama = await findOllama(given.fetch, given.clock, options.signal);
    return { models: ollama?.models.map(fromOllama(ollama, given)) ?? [], problems: [] };
  }
  const problems: HostError[] = [];
  const lists = endpoints.map(async ({ names, create }) => {
    try {
      return (await names()).map(create);
    } catch (error) {
      if (!(error instanceof HostError) || error.code === "cancelled") throw error;
      problems.push(error);
      return [];
    }
  });
  return { models: (await Promise.all(lists)).flat(), problems };
}

function toEndpointOptions({ fetch, ...options }: ChooseOptions): EndpointOptions {
  return { ...options, fetch: fetch ?? createModelFetch(options), signInFetch: fetch };
}

function fromOllama({ baseUrl }: Ollama, { fetch, clock }: EndpointOptions): (name: string) => Model {
  return (name) => createOpenaiModel({ name, baseUrl, fetch, clock });
}

function nextWithout(ollama: Ollama | undefined): string {
  const local = ollama === undefined ? "" : "; Ollama runs on this machine and has no model yet: ollama pull NAME";
  return `Set GEMINI_API_KEY (create a key at https://aistudio.google.com/apikey), ANTHROPIC_API_KEY, or OPENAI_BASE_URL for your own model${local}.`;
}
