/** `/model`: shows the model or switches to another; the conversation is kept. */

import type { ModelChoice } from "@fairlead/core/model/choose-model";
import type { Services } from "../services.ts";
import type { BuiltIn } from "./command.ts";

export const model: BuiltIn = {
  name: "model",
  summary: "show the model, or switch to another",
  usage: "[NAME|manual]",
  complete: ([name]) =>
    name === undefined ? [{ value: "manual", about: "no model: you call the tools yourself" }] : [],
  async run(line, services) {
    const { session, models } = services;
    const name = line.trim();
    const { manual } = models;
    if (name === manual.name) return use(manual.name, () => session.setModel(manual), services);
    const isAsked = name !== "" || session.conversation.model.provider === "manual";
    if (!isAsked)
      return session.note("info", `The model is ${session.conversation.model.name}.`, "/model NAME or /model manual");
    const choice = await models.find(name === "" ? undefined : name);
    if (choice.kind === "model")
      return use(choice.model.name, () => session.setModel(choice.model), services, name !== "");
    session.note("warning", whyNone(choice, name), nextFor(choice));
  },
};

/** `isGuess`: the provider was not asked whether the model exists. */
function use(name: string, set: () => void, { session }: Services, isGuess = false): void {
  set();
  const doubt = isGuess ? " Fairlead has not checked that this model exists: your next message will show." : "";
  const words = name === "manual" ? "No model: you call the tools yourself." : `The model is now ${name}.${doubt}`;
  session.note("info", words);
}

function whyNone(choice: Exclude<ModelChoice, { readonly kind: "model" }>, name: string): string {
  const unknown = name === "" ? "no model configured" : `no model "${name}": no configured provider has it`;
  return choice.kind === "none" ? unknown : `${unknown}; Ollama is running with ${choice.ollama.models.join(", ")}`;
}

function nextFor(choice: Exclude<ModelChoice, { readonly kind: "model" }>): string {
  return choice.kind === "none" ? choice.next : `/model ${choice.ollama.models[0] ?? "NAME"}`;
}
