/** `/prompts`: lists the prompts of servers; each prompt is a slash command. */

import { joinSafe, safe } from "@fairlead/core/text/safe-text";
import { groupBy } from "../../output/group-by.ts";
import { promptsText } from "../../output/tools/prompt-list.ts";
import { type BuiltIn, serverNames } from "./command.ts";
import { lookFor, namedServer } from "./listing.ts";
import { asTyped } from "./prompt-commands.ts";

export const prompts: BuiltIn = {
  name: "prompts",
  summary: "prompts offered by servers",
  usage: "[SERVER]",
  complete: ([server], services) => (server === undefined ? serverNames(services) : []),
  run(line, services) {
    const { session } = services;
    const commands = session.commands();
    const servers = [...groupBy(session.host.prompts(namedServer(line, services)), ({ server }) => server)];
    const texts = servers.map(([server, own]) => promptsText(server, asTyped(own, commands), lookFor(services)));
    session.show("/prompts", texts.length === 0 ? "No prompts found." : joinSafe(texts, safe`\n\n`));
  },
};
