/** Chooses the model from `--model` and the environment variables. */

import { parseUrl } from "@fairlead/wire/text";
import type { AuthClient } from "google-auth-library";
import { toGoogleError } from "../auth/google/google-failure.ts";
import type { Clock } from "../clock.ts";
import { HostError } from "../errors.ts";
import { createBoundedFetch, type Fetch } from "../net/bounded-fetch.ts";
import type { Environment } from "../settings/read/paths.ts";
import { createGeminiModel } from "./gemini/gemini.ts";
import type { GeminiAccess } from "./gemini/gemini-access.ts";
import type { Model } from "./model.ts";
import { createModelFetch } from "./model-fetch.ts";
import { createOpenaiModel } from "./openai/openai.ts";
import { findOllama, type Ollama, ollamaModel, onlyModelOf } from "./openai/openai-models.ts";

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

const usualGemini = "gemini-2.5-flash";
const usualOpenai = "https://api.openai.com/v1";

/**
 * Chooses Gemini or an endpoint with OpenAI's API, if environment variables configure one. Otherwise looks for Ollama
 * on this machine. Returns an Ollama model if `wanted` names it, and `offer` if `wanted` names none of Ollama's models.
 * Returns `none` if Ollama does not run or has no models.
 *
 * @throws HostError `model` if the environment names a model that cannot be used; `cancelled`
 *
 * @example
 * ```ts
 * const choice = await chooseModel({ env: process.env, clock: systemClock });
 * if (choice.kind === "model") console.log(choice.model.name);
 * ```
 */
export async function chooseModel(options: ChooseOptions): Promise<ModelChoice> {
  const { env, clock, wanted } = options;
  const fetch = options.fetch ?? createModelFetch({ env, clock });
  const access = geminiAccess(options);
  const speaksOpenai = isSet(env["OPENAI_BASE_URL"]) || isSet(env["OPENAI_API_KEY"]);
  /*
   * If credentials for both Gemini and an OpenAI endpoint are set, the model's name decides. Without a name, Fairlead
   * uses Gemini.
   */
  const isForOpenai = speaksOpenai && (access === undefined || (wanted !== undefined && !isGeminiName(wanted)));
  if (isForOpenai) return { kind: "model", model: await chooseOpenai(options, fetch) };
  if (access !== undefined) {
    const name = wanted || env["GEMINI_MODEL"] || usualGemini;
    const isVertex = access.kind === "vertex" || access.isVertex === true;
    const variable = isVertex ? "GOOGLE_VERTEX_BASE_URL" : "GOOGLE_GEMINI_BASE_URL";
    const baseUrl = addressIn(env, variable);
    return { kind: "model", model: createGeminiModel({ name, access, fetch, clock, ...(baseUrl && { baseUrl }) }) };
  }
  const ollama = await findOllama(fetch, clock, options.signal);
  if (ollama === undefined || ollama.models.length === 0) return { kind: "none", next: nextWithout(ollama) };
  const name = wanted === undefined ? undefined : ollamaModel(ollama, wanted);
  if (name === undefined) return { kind: "offer", ollama };
  return { kind: "model", model: createOpenaiModel({ name, baseUrl: ollama.baseUrl, fetch, clock }) };
}

function geminiAccess(options: ChooseOptions): GeminiAccess | undefined {
  const { env } = options;
  const variable = ["GEMINI_API_KEY", "GOOGLE_API_KEY"].find((name) => isSet(env[name]));
  const apiKey = variable === undefined ? undefined : env[variable]?.trim();
  if (/^(?:true|1)$/i.test(env["GOOGLE_GENAI_USE_VERTEXAI"] ?? "")) {
    const project = env["GOOGLE_CLOUD_PROJECT"] || env["GOOGLE_CLOUD_PROJECT_ID"];
    const location = env["GOOGLE_CLOUD_LOCATION"] || "global";
    if (!project && isSet(env["GOOGLE_API_KEY"]))
      return { kind: "key", apiKey: env["GOOGLE_API_KEY"].trim(), variable: "GOOGLE_API_KEY", isVertex: true };
    checkPlace("GOOGLE_CLOUD_PROJECT", project ?? "");
    checkPlace("GOOGLE_CLOUD_LOCATION", location);
    return { kind: "vertex", project: project ?? "", location, authorize: authorizeVertex(options, options.fetch) };
  }
  return variable === undefined || apiKey === undefined ? undefined : { kind: "key", apiKey, variable };
}

async function chooseOpenai({ env, clock, wanted, signal }: ChooseOptions, fetch: Fetch): Promise<Model> {
  const baseUrl = addressIn(env, "OPENAI_BASE_URL") ?? usualOpenai;
  const apiKey = isSet(env["OPENAI_API_KEY"]) ? env["OPENAI_API_KEY"].trim() : undefined;
  const name = wanted || env["OPENAI_MODEL"] || (await onlyModelOf(baseUrl, { apiKey, fetch, clock, signal }));
  return createOpenaiModel({ name, baseUrl, apiKey, fetch, clock });
}

/** Checks a value from the environment that becomes part of a URL. */
function checkPlace(variable: string, value: string): void {
  if (/^[a-z0-9][a-z0-9.:-]{0,99}$/i.test(value)) return;
  const what = value === "" ? `${variable} is not set` : `${variable} is "${value}", which is not valid`;
  throw new HostError("model", `Vertex AI cannot be used: ${what}`, { next: `export ${variable}=…` });
}

function addressIn(env: Environment["env"], variable: string): string | undefined {
  const value = env[variable]?.trim();
  if (!value) return undefined;
  if (/^https?:$/.test(parseUrl(value)?.protocol ?? "")) return value;
  throw new HostError("model", `${variable} is not an http or https address`, { next: `export ${variable}=https://…` });
}

function isGeminiName(name: string): boolean {
  return /^(?:gemini|models\/|tunedModels\/|publishers\/|projects\/)/i.test(name);
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== "";
}

function nextWithout(ollama: Ollama | undefined): string {
  const local = ollama === undefined ? "" : "; Ollama runs on this machine and has no model yet: ollama pull NAME";
  return `Set GEMINI_API_KEY (create a key at https://aistudio.google.com/apikey), or OPENAI_BASE_URL for your own model${local}.`;
}

type Authorize = Extract<GeminiAccess, { readonly kind: "vertex" }>["authorize"];

const serverName = "Vertex AI";
const scopes = ["https://www.googleapis.com/auth/cloud-platform"];

/**
 * Returns a function that creates the authorization headers for Vertex AI. The token of the user's Google account comes
 * from `gcloud` or an environment variable.
 */
function authorizeVertex(given: Partial<Environment> & Pick<Environment, "env">, fetch?: Fetch): Authorize {
  const { env, home = env["HOME"] ?? env["USERPROFILE"] ?? "", cwd = home, platform = process.platform } = given;
  let client: Promise<AuthClient> | undefined;
  return async () => {
    try {
      client ??= openClient({ env, home, cwd, platform }, fetch ?? createBoundedFetch({ env }));
      return Object.fromEntries(await (await client).getRequestHeaders());
    } catch (error) {
      // After a failure, the credentials are read again at the next request, because the user may sign in meanwhile.
      client = undefined;
      throw toGoogleError(error, { serverName });
    }
  };
}

async function openClient(environment: Environment, fetch: Fetch): Promise<AuthClient> {
  const { openGoogleClient } = await import("../auth/google/google-credentials.ts");
  return openGoogleClient({ serverName, environment, scopes, fetch });
}
