/** The models' APIs that the environment variables configure. */

import { parseUrl } from "@fairlead/wire/text";
import type { AuthClient } from "google-auth-library";
import { toGoogleError } from "../auth/google/google-failure.ts";
import type { Clock } from "../clock.ts";
import { HostError } from "../errors.ts";
import { createBoundedFetch, type Fetch } from "../net/bounded-fetch.ts";
import type { Environment } from "../settings/read/paths.ts";
import { anthropicModelList, createAnthropicModel, newestModelOf } from "./anthropic/anthropic.ts";
import { createGeminiModel, type GeminiAccess, geminiModelList } from "./gemini/gemini.ts";
import type { Model } from "./model.ts";
import { readModelNames } from "./model-list.ts";
import { createOpenaiModel } from "./openai/openai.ts";
import { onlyModelOf, openaiModelList } from "./openai/openai-models.ts";

export interface ModelEndpoint {
  /** The names that belong to this API, whatever else is configured. Undefined: the endpoint may have any name. */
  readonly ownNames?: RegExp;
  /** Returns the model to use if the user names none. @throws HostError `model` */
  readonly usualName: () => string | Promise<string>;
  readonly create: (name: string) => Model;
  /** Returns the names of the API's models; empty if the API has no list. @throws HostError `model`, `cancelled` */
  readonly names: () => Promise<readonly string[]>;
}

/** The environment and the connection for the APIs. Only Vertex AI needs `home`, `cwd` and `platform`. */
export interface EndpointOptions extends Pick<Environment, "env">, Partial<Omit<Environment, "env">> {
  readonly fetch: Fetch;
  /** The `fetch` for Google's sign-in. Default: a `fetch` with limits. */
  readonly signInFetch?: Fetch | undefined;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns the configured APIs: Gemini, OpenAI-compatible, Anthropic. The first one is the default.
 *
 * @throws HostError `model` if a variable is invalid
 */
export function configuredEndpoints(options: EndpointOptions): readonly ModelEndpoint[] {
  return [geminiEndpoint(options), openaiEndpoint(options), anthropicEndpoint(options)].filter(
    (endpoint) => endpoint !== undefined,
  );
}

function geminiEndpoint(options: EndpointOptions): ModelEndpoint | undefined {
  const { env, fetch, clock } = options;
  const access = geminiAccess(options);
  if (access === undefined) return undefined;
  const isVertex = access.kind === "vertex" || access.isVertex === true;
  const baseUrl = addressIn(env, isVertex ? "GOOGLE_VERTEX_BASE_URL" : "GOOGLE_GEMINI_BASE_URL");
  const list = geminiModelList(access, baseUrl);
  return {
    ownNames: /^(?:gemini|models\/|tunedModels\/|publishers\/|projects\/)/i,
    usualName: () => env["GEMINI_MODEL"] || "gemini-2.5-flash",
    create: (name) => createGeminiModel({ name, access, fetch, clock, baseUrl }),
    names: async () => (list === undefined ? [] : readModelNames(list, options)),
  };
}

function openaiEndpoint(options: EndpointOptions): ModelEndpoint | undefined {
  const { env, fetch, clock } = options;
  if (!isSet(env["OPENAI_BASE_URL"]) && !isSet(env["OPENAI_API_KEY"])) return undefined;
  const baseUrl = addressIn(env, "OPENAI_BASE_URL") ?? "https://api.openai.com/v1";
  const apiKey = isSet(env["OPENAI_API_KEY"]) ? env["OPENAI_API_KEY"].trim() : undefined;
  const list = openaiModelList(baseUrl, apiKey);
  return {
    usualName: () => env["OPENAI_MODEL"] || onlyModelOf(list, options),
    create: (name) => createOpenaiModel({ name, baseUrl, apiKey, fetch, clock }),
    names: () => readModelNames(list, options),
  };
}

function anthropicEndpoint(options: EndpointOptions): ModelEndpoint | undefined {
  const { env, fetch, clock } = options;
  if (!isSet(env["ANTHROPIC_API_KEY"])) return undefined;
  const apiKey = env["ANTHROPIC_API_KEY"].trim();
  const baseUrl = addressIn(env, "ANTHROPIC_BASE_URL");
  const list = anthropicModelList({ apiKey, baseUrl });
  return {
    ownNames: /^claude/i,
    usualName: () => env["ANTHROPIC_MODEL"] || newestModelOf(list, options),
    create: (name) => createAnthropicModel({ name, baseUrl, apiKey, fetch, clock }),
    names: () => readModelNames(list, options),
  };
}

function geminiAccess(options: EndpointOptions): GeminiAccess | undefined {
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
    return {
      kind: "vertex",
      project: project ?? "",
      location,
      authorize: authorizeVertex(options, options.signInFetch),
    };
  }
  return variable === undefined || apiKey === undefined ? undefined : { kind: "key", apiKey, variable };
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

function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== "";
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
