/**
 * Chooses the model from the environment, the user's own `.env` files, and the keys among the stored secrets. Ignores
 * the files of a workspace.
 */

import { systemClock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import { chooseModel, listModels, type Model, type ModelChoice, type ModelList } from "@fairlead/core/model";
import { toShellWord } from "@fairlead/core/plain-text";
import { type Environment, readEnvFiles } from "@fairlead/core/settings";
import type { Configuration } from "@fairlead/core/trust";

/** Variables in `.env` files that choose a model. All other variables in `.env` files are for servers. */
const ours = /^(?:ANTHROPIC|GEMINI|GOOGLE|OPENAI)_/;
/** The keys that may be stored as secrets. A key counts as given if one of its variables is set. */
const keys: ReadonlyMap<string, readonly string[]> = new Map([
  ["GEMINI_API_KEY", ["GEMINI_API_KEY", "GOOGLE_API_KEY"]],
  ["OPENAI_API_KEY", ["OPENAI_API_KEY"]],
  ["ANTHROPIC_API_KEY", ["ANTHROPIC_API_KEY"]],
]);
const mostNamed = 5;

/**
 * Returns the model to use.
 * @throws HostError `model` if no model is configured; its next step says what to set
 */
export async function modelFor(
  configuration: ModelConfiguration,
  wanted: string | undefined,
  signal: AbortSignal,
): Promise<Model> {
  return toModel(await findModel(configuration, wanted, signal), wanted);
}

type ModelConfiguration = Pick<Configuration, "environment" | "locations">;

/** Finds the model that `wanted` names, or a default model. If there is none, the result says what to set. */
export async function findModel(
  configuration: ModelConfiguration,
  wanted: string | undefined,
  signal?: AbortSignal,
): Promise<ModelChoice> {
  const { environment } = configuration;
  const env = await modelEnvironment(configuration);
  return chooseModel({ ...environment, env, wanted, clock: systemClock, signal });
}

/** Lists the models of all configured APIs. */
export async function findModels(configuration: ModelConfiguration): Promise<ModelList> {
  const { environment } = configuration;
  return listModels({ ...environment, env: await modelEnvironment(configuration), clock: systemClock });
}

/** The variables that choose a model: of the environment, else of the user's `.env` files, else stored secrets. */
async function modelEnvironment({ environment, locations }: ModelConfiguration): Promise<Environment["env"]> {
  const { user } = await readEnvFiles(locations, false);
  const files = Object.fromEntries([...user].filter(([name]) => ours.test(name)));
  const given: Environment["env"] = { ...files, ...environment.env };
  const missing = [...keys].flatMap(([name, all]) => (all.some((each) => given[each]?.trim()) ? [] : [name]));
  try {
    return { ...given, ...(await storedKeys(missing, environment, locations.state)) };
  } catch (error) {
    // A key of the environment is usable without the stored ones.
    if (error instanceof HostError && missing.length < keys.size) return given;
    throw error;
  }
}

/** Reads these keys from the stored secrets. Opens the store only if it has one of them. */
async function storedKeys(
  wanted: readonly string[],
  { env, platform }: Pick<Environment, "env" | "platform">,
  state: string,
): Promise<Readonly<Record<string, string | undefined>>> {
  if (wanted.length === 0) return {};
  const { readSecretNames } = await import("@fairlead/core/files/secrets/secret-names");
  const stored = await readSecretNames(state);
  const names = wanted.filter((name) => stored.has(name));
  if (names.length === 0) return {};
  const { openSecretStore } = await import("@fairlead/core/files/secrets/secret-store");
  const store = await openSecretStore({ directory: state, env, platform });
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await store.get(name)] as const)));
}

/**
 * Returns the chosen model.
 * @throws HostError `model`, with the next step, if no model was found
 */
export function toModel(choice: ModelChoice, wanted: string | undefined): Model {
  switch (choice.kind) {
    case "model":
      return choice.model;
    case "offer": {
      const { models } = choice.ollama;
      const named = models.slice(0, mostNamed).join(", ");
      const more = models.length > mostNamed ? ` and ${models.length - mostNamed} more` : "";
      const what = wanted === undefined ? "no model configured" : `unknown model "${wanted}"`;
      throw new HostError("model", `${what}; Ollama on this machine has ${named}${more}`, {
        next: `add --model ${toShellWord(models[0] ?? "")}`,
      });
    }
    case "none":
      throw new HostError("model", "no model configured", { next: choice.next });
  }
}
