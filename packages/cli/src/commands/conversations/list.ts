/** `fairlead conversations`: lists recorded conversations. */

import { listConversations } from "@fairlead/core/conversations/list-conversations";
import { HostError } from "@fairlead/core/errors";
import { safe } from "@fairlead/core/text/safe-text";
import { folderOf } from "../../conversations/find-conversation.ts";
import { conversationsText } from "../../output/reports/conversation-text.ts";
import { configurationOf } from "../../shell/configuration.ts";
import type { Verb } from "../../shell/verb.ts";

export const verb: Verb = {
  help: `
Shows when and where each conversation was last used, how many calls it has, and its name or first words; latest first.

Examples:
  fairlead conversations
  fairlead conversations --here --json
  fairlead --resume ID`,

  define(command) {
    command
      .option("--here", "only conversations of this workspace")
      .option("--limit <number>", "show only this many of the latest conversations", "50");
  },

  async run(context) {
    const { io, out, globals, command } = context;
    const { here = false, limit: word } = command.opts<{ readonly here?: boolean; readonly limit: string }>();
    if (!/^[1-9]\d{0,5}$/.test(word))
      throw new HostError("usage", `--limit must be a whole number above zero, not "${word}"`, { next: "--limit 200" });
    const limit = Number(word);
    const configuration = await configurationOf(context);
    const workspace = here ? { workspace: configuration.locations.root } : {};
    const conversations = await listConversations(folderOf(configuration), { limit, ...workspace });
    if (globals.json) return out.json({ conversations });
    if (conversations.length === 0) return out.say(safe`no recorded conversations`);
    out.show(conversationsText(conversations, { home: io.home, now: Date.now() }));
    if (conversations.length === limit) out.say(safe`showing the latest ${limit}; use --limit to show more`);
  },
};
