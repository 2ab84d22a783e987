/** `/model`: who answers, and somebody else from now on; what was said so far stays. */

import type { ModelChoice } from "@fairlead/core/model/choose-model";
import type { Bench } from "../services.ts";
import type { BuiltIn } from "./command.ts";

export const model: BuiltIn = {
  name: "model",
  summary: "who answers; with a name, somebody else from now on",
  usage: "[NAME|manual]",
  complete: ([name]) =>
    name === undefined ? [{ value: "manual", about: "no model: you call the tools yourself" }] : [],
  async run(line, bench) {
    const { session, models } = bench;
    const name = line.trim();
    const { manual } = models;
    if (name === manual.name) return use(manual.name, () => session.setModel(manual), bench);
    const isAsked = name !== "" || session.conversation.model.provider === "manual";
    if (!isAsked)
      return session.note("info", `${session.conversation.model.name} answers here.`, "/model NAME or /model manual");
    const choice = await models.find(name === "" ? undefined : name);
    if (choice.kind === "model")
      return use(choice.model.name, () => session.setModel(choice.model), bench, name !== "");
    session.note("warning", whyNone(choice, name), nextFor(choice));
  },
};

/** `isGuess`: nobody has been asked whether there is one by that name. */
function use(name: string, set: () => void, { session }: Bench, isGuess = false): void {
  set();
  const doubt = isGuess ? " Whether there is such a model was not checked: your next message will show." : "";
  const words = name === "manual" ? "From now on you call the tools yourself." : `From now on ${name} answers.${doubt}`;
  session.note("info", words);
}

function whyNone(choice: Exclude<ModelChoice, { readonly kind: "model" }>, name: string): string {
  const unknown = name === "" ? "No model is set." : `Nothing here knows a model "${name}".`;
  return choice.kind === "none" ? unknown : `${unknown} Ollama runs here and has ${choice.ollama.models.join(", ")}.`;
}

function nextFor(choice: Exclude<ModelChoice, { readonly kind: "model" }>): string {
  return choice.kind === "none" ? choice.next : `/model ${choice.ollama.models[0] ?? "NAME"}`;
}
