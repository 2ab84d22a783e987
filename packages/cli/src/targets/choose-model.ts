/** The model that answers here: what the environment sets, or the person's own `.env` files; nothing of a workspace has a say. */

import { systemClock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import { chooseModel, type ModelChoice } from "@fairlead/core/model/choose-model";
import type { Model } from "@fairlead/core/model/model";
import { readEnvFiles } from "@fairlead/core/settings/read/variables";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { Configuration } from "@fairlead/core/trust/configuration";

/** Others in those files are for the servers. */
const ours = /^(?:GEMINI|GOOGLE|OPENAI)_/;
const mostNamed = 5;

/** Throws with what to set if there is none. */
export async function modelFor(configuration: Place, wanted: string | undefined, signal: AbortSignal): Promise<Model> {
  return toModel(await findModel(configuration, wanted, signal), wanted);
}

type Place = Pick<Configuration, "environment" | "locations">;

export async function findModel(
  { environment, locations }: Place,
  wanted: string | undefined,
  signal?: AbortSignal,
): Promise<ModelChoice> {
  const { user } = await readEnvFiles(locations, false);
  const files = Object.fromEntries([...user].filter(([name]) => ours.test(name)));
  const env = { ...files, ...environment.env };
  return chooseModel({ ...environment, env, wanted, clock: systemClock, ...(signal && { signal }) });
}

/** Or what the person can do about it. */
export function toModel(choice: ModelChoice, wanted: string | undefined): Model {
  switch (choice.kind) {
    case "model":
      return choice.model;
    case "offer": {
      const { models } = choice.ollama;
      const named = models.slice(0, mostNamed).join(", ");
      const more = models.length > mostNamed ? ` and ${models.length - mostNamed} more` : "";
      const what = wanted === undefined ? "no model is set" : `nothing here knows a model "${wanted}"`;
      throw new HostError("model", `${what}; Ollama runs on this machine and has ${named}${more}`, {
        next: `To use it, add: --model ${toShellWord(models[0] ?? "")}`,
      });
    }
    case "none":
      throw new HostError("model", "no model is set", { next: choice.next });
  }
}
