/** The table of slash commands: built-in commands, then prompts of servers; and `/help`, `/model` and `/quit`. */

import type { ModelChoice } from "@fairlead/core/model/choose-model";
import { safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import { table } from "../../output/output.ts";
import { promptKeys } from "../input/key-table.ts";
import type { Services } from "../services.ts";
import type { SlashCommand } from "../session/session.ts";
import type { BuiltIn } from "./command.ts";
import { form } from "./form.ts";
import { mcp } from "./mcp.ts";
import { history, policy, trust } from "./policy.ts";
import { type PromptCommand, promptCommands } from "./prompt-commands.ts";
import { prompts, resources, tools } from "./tools.ts";

/** `/model`: shows the model or switches to another; the conversation is kept. */
const model: BuiltIn = {
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

/** `/quit`: ends the app. */
const quit: BuiltIn = {
  name: "quit",
  summary: "quit (also: Ctrl-C twice on an empty prompt)",
  run: (_words, { session }) => session.quit(),
};

/** `/help`: lists all commands and keys. */
const help: BuiltIn = {
  name: "help",
  summary: "every command and every key",
  run(_words, { session }) {
    const commands = session
      .commands()
      .map(({ name, usage, summary }) => [
        safe`  ${toVisibleLine(`/${name}${usage === undefined ? "" : ` ${usage}`}`)}`,
        toVisibleLine(summary),
      ]);
    const manual = "Without a model, type calls: server.tool key=value …";
    session.show(
      "/help",
      [
        table(commands),
        "",
        table(promptKeys.map(([name, words]) => [safe`  ${toVisibleLine(name)}`, toVisibleLine(words)])),
        "",
        manual,
      ].join("\n"),
    );
  },
};

export const builtIns: readonly BuiltIn[] = [
  mcp,
  tools,
  resources,
  prompts,
  form,
  model,
  policy,
  trust,
  history,
  help,
  quit,
];
const taken: ReadonlySet<string> = new Set(builtIns.map(({ name }) => name));

export function commandsOf({ session }: Services): readonly (BuiltIn | PromptCommand)[] {
  return [...builtIns, ...promptCommands(session.host.prompts(), taken)];
}

export function allCommands(services: Services): readonly SlashCommand[] {
  return commandsOf(services).map((command) => ({
    ...command,
    run: (words) => command.run(words, services),
  }));
}
