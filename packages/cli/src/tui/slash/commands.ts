/** The table of slash commands: built-in commands, then prompts of servers. */

import { safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import { table } from "../../output/output.ts";
import { promptKeys } from "../input/key-table.ts";
import type { Services } from "../services.ts";
import type { SlashCommand } from "../session/session.ts";
import type { BuiltIn } from "./command.ts";
import { form } from "./form.ts";
import { mcp } from "./mcp.ts";
import { model } from "./model.ts";
import { history, policy, trust } from "./policy.ts";
import { type PromptCommand, promptCommands } from "./prompt-commands.ts";
import { prompts, resources, tools } from "./tools.ts";

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
