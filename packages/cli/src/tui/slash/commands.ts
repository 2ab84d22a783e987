/** The table of slash commands: built-in commands, then prompts of servers. */

import type { Services } from "../services.ts";
import type { SlashCommand } from "../session/session.ts";
import type { BuiltIn } from "./command.ts";
import { form } from "./form.ts";
import { help } from "./help.ts";
import { history } from "./history.ts";
import { mcp } from "./mcp.ts";
import { model } from "./model.ts";
import { policy } from "./policy.ts";
import { type PromptCommand, promptCommands } from "./prompt-commands.ts";
import { prompts } from "./prompts.ts";
import { quit } from "./quit.ts";
import { resources } from "./resources.ts";
import { tools } from "./tools.ts";
import { trust } from "./trust.ts";

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
