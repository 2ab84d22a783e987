/** Chooses the model from the environment and the user's own `.env` files. Ignores the files of a workspace. */

import { systemClock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import { chooseModel, type ModelChoice } from "@fairlead/core/model/choose-model";
import type { Model } from "@fairlead/core/model/model";
import { readEnvFiles } from "@fairlead/core/settings/read/variables";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { Configuration } from "@fairlead/core/trust/configuration";

/** Variables in `.env` files that choose a model. All other variables in `.env` files are for servers. */
const ours = /^(?:GEMINI|GOOGLE|OPENAI)_/;
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
  { environment, locations }: ModelConfiguration,
  wanted: string | undefined,
  signal?: AbortSignal,
): Promise<ModelChoice> {
  const { user } = await readEnvFiles(locations, false);
  const files = Object.fromEntries([...user].filter(([name]) => ours.test(name)));
  const env = { ...files, ...environment.env };
  return chooseModel({ ...environment, env, wanted, clock: systemClock, ...(signal && { signal }) });
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
