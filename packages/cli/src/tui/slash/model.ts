/** `/model`: shows the models of the configured APIs, or switches to the model that the user names. */

import type { Model, ModelChoice } from "@fairlead/core/model";
import type { Services } from "../services.ts";
import type { SlashCommand } from "./command.ts";
import { typedHere } from "./typed-here.ts";

/** `/model`: a list of models to choose from, or the model to switch to. */
export const model: SlashCommand = {
  name: "model",
  summary: "choose a model from a list, or switch to the named one",
  usage: "[NAME|manual]",
  complete: ([name]) =>
    name === undefined ? [{ value: "manual", about: "no model: you call the tools yourself" }] : [],
  run: (line, services) => (line.trim() === "" ? chooseModel(services) : switchTo(line.trim(), services)),
};

async function switchTo(name: string, { session, models }: Services): Promise<void> {
  const { manual } = models;
  if (name === manual.name) return use(manual, session);
  const choice = await models.find(name);
  if (choice.kind !== "model") return session.note("warning", whyNone(choice, name), nextFor(choice));
  const doubt = " Fairlead did not check that this model exists; your next message will show whether it does.";
  use(choice.model, session, doubt);
}

async function chooseModel(services: Services): Promise<void> {
  const { session, models } = services;
  const { models: listed, problems } = await models.list();
  for (const { message, next } of problems)
    session.note("warning", message, ...(next === undefined ? [] : [typedHere(next)]));
  if (listed.length === 0) return withoutList(services);
  const current = session.model();
  const isCurrent = ({ provider, name }: Model): boolean => provider === current.provider && name === current.name;
  // The API may list the current model under another name, for example with a date.
  const isMissing = current !== models.manual && !listed.some(isCurrent);
  const options = [...(isMissing ? [current] : []), ...listed, models.manual];
  const chosen = await session.ask("choice", {
    kind: "choice",
    serverName: "Fairlead",
    message: "Which model do you want to use?",
    options: options.map((each) => `${wordsFor(each, listed)}${isCurrent(each) ? " (current)" : ""}`),
    // In manual mode, the user wants a model.
    selected: current === models.manual ? 0 : options.findIndex(isCurrent),
  });
  const next = chosen === undefined ? undefined : options[chosen];
  if (next !== undefined && !isCurrent(next)) use(next, session);
}

/** The name, with the API if several APIs are configured. */
function wordsFor({ provider, name }: Model, listed: readonly Model[]): string {
  if (provider === "manual") return "manual: no model, you call the tools yourself";
  return listed.some((each) => each.provider !== provider) ? `${name} · ${provider}` : name;
}

/** If no API lists its models: in manual mode, uses the default model. */
async function withoutList({ session, models }: Services): Promise<void> {
  const { provider, name } = session.model();
  if (provider !== "manual")
    return session.note(
      "info",
      `The model is ${name}. Its API gives no list of models.`,
      "/model NAME or /model manual",
    );
  const choice = await models.find();
  if (choice.kind === "model") use(choice.model, session);
  else session.note("warning", whyNone(choice, ""), nextFor(choice));
}

function use(next: Model, session: Services["session"], doubt = ""): void {
  session.setModel(next);
  const isManual = next.provider === "manual";
  session.note("info", isManual ? "No model: you call the tools yourself." : `The model is now ${next.name}.${doubt}`);
}

function whyNone(choice: Exclude<ModelChoice, { readonly kind: "model" }>, name: string): string {
  const unknown = name === "" ? "no model configured" : `no model "${name}": no configured provider has it`;
  return choice.kind === "none" ? unknown : `${unknown}; Ollama is running with ${choice.ollama.models.join(", ")}`;
}

function nextFor(choice: Exclude<ModelChoice, { readonly kind: "model" }>): string {
  return choice.kind === "none" ? choice.next : `/model ${choice.ollama.models[0] ?? "NAME"}`;
}
