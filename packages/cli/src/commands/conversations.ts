/** `fairlead conversations`, `show`, `export` and `clean`: list, print and remove recorded conversations. */

import { conversationDocument } from "@fairlead/console/server/words/conversation-document";
import { conversationsIn, findConversation, listConversations, removeConversation } from "@fairlead/core/conversations";
import { HostError } from "@fairlead/core/errors";
import { removeResults } from "@fairlead/core/files";
import { safe, toSafeLine, toSafeText } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust";
import { Option } from "commander";
import { conversationOfId, folderOf } from "../conversations/find-conversation.ts";
import { stateAfter } from "../conversations/recorded-events.ts";
import { count } from "../output/output.ts";
import { conversationsText } from "../output/reports/conversation-text.ts";
import { columnsOf } from "../output/wrap.ts";
import { configurationOf } from "../shell/configuration.ts";
import { toMoment } from "../shell/log-lines.ts";
import { type Context, usageError, type Verb } from "../shell/verb.ts";
import { itemText } from "../tui/plain/plain-text.ts";
import { toMarkdown } from "../tui/state/conversation-text.ts";

const list: Verb = {
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

// `fairlead clean`: removes recorded conversations and stored results.

interface Options {
  readonly olderThan?: string;
  readonly all?: boolean;
  readonly dryRun?: boolean;
}

const usualAge = "30d";

const clean: Verb = {
  help: `
Without arguments, removes conversations that were not used for 30 days, and large results older than 30 days.
A conversation that is open in another process is kept. Fairlead also removes files automatically: the oldest
conversations if there are more than 1000 or they take more than 2 GB, results after 7 days, and the oldest results
if there are more than 500 or they take more than 1 GB.

Examples:
  fairlead clean --dry-run
  fairlead clean --older-than 7d
  fairlead clean 20260131-083000-1a2b3c`,

  define(command) {
    command
      .argument("[id...]", "remove these conversations")
      .option(
        "--older-than <time>",
        "remove conversations and results older than this age or date: 12h, 7d, 2026-01-31",
      )
      .option("--all", "remove all conversations and results")
      .option("--dry-run", "show what would be removed; remove nothing");
  },

  async run(context) {
    const { out, globals, command } = context;
    const { dryRun = false } = command.opts<Options>();
    const configuration = await configurationOf(context);
    const removed: string[] = [];
    const open: string[] = [];
    const { ids, before } = await wanted(context, configuration);
    for (const id of ids) {
      const isGone = dryRun || (await removeConversation(folderOf(configuration), id));
      (isGone ? removed : open).push(id);
    }
    const results = await removeResults(configuration.locations.state, before, { dryRun });
    if (globals.json) return out.json({ removed, open, results, dryRun });
    for (const id of removed) out.print(safe`${dryRun ? safe`would remove` : safe`removed`} ${toSafeLine(id)}`);
    for (const id of open) out.warn(safe`kept ${toSafeLine(id)}: it is open in another process`);
    if (results.files > 0)
      out.print(safe`${dryRun ? safe`would remove` : safe`removed`} ${count(results.files, "stored result")}`);
    if (removed.length + open.length + results.files === 0) out.say(safe`nothing to remove`);
    else out.say(safe`${count(removed.length, "conversation")}`);
  },
};

async function wanted(context: Context, configuration: Configuration) {
  const { operands, command } = context;
  const { olderThan, all = false } = command.opts<Options>();
  if ([operands.length > 0, olderThan !== undefined, all].filter(Boolean).length > 1)
    throw usageError("ids, --older-than and --all cannot be combined", context);
  const folder = folderOf(configuration);
  if (operands.length > 0) {
    const ids = await Promise.all(operands.map(async (id) => (await findConversation(folder, id)).id));
    return { ids, before: Number.NEGATIVE_INFINITY };
  }
  const before = all ? Number.POSITIVE_INFINITY : momentOf(olderThan ?? usualAge);
  const ids = (await conversationsIn(folder)).flatMap(({ id, updated }) => (updated < before ? id : []));
  return { ids, before };
}

function momentOf(word: string): number {
  try {
    return toMoment(word, Date.now());
  } catch {
    throw new HostError("usage", `--older-than "${word}" is not a time or a duration`, { next: "--older-than 7d" });
  }
}

// `fairlead show`: prints a recorded conversation. `fairlead export`: prints it as Markdown or JSON.

const size = { columns: 80, rows: 1_000_000 };

const show: Verb = {
  help: `
Prints the messages, the calls with their results, and the answers, as the app shows them. Contacts no server and no model.

Examples:
  fairlead show 20260131-083000-1a2b3c
  fairlead show 20260131-083000-1a2b3c --json`,

  define: (command) => void command.argument("<id>", "the id of the conversation, or the beginning of the id"),

  async run(context) {
    const { io, out, globals, operands } = context;
    const recorded = await conversationOfId(operands[0] ?? "", await configurationOf(context));
    if (globals.json) return out.json(conversationDocument(recorded));
    for (const item of stateAfter(recorded, size).items) out.print(itemText(item, columnsOf(io.stdout)));
  },
};

const exporting: Verb = {
  help: `
Markdown for people, JSON for programs. Secrets that Fairlead knows are hidden, as in the recorded conversation itself.

Examples:
  fairlead export 20260131-083000-1a2b3c > conversation.md
  fairlead export 20260131-083000-1a2b3c --format json`,

  define(command) {
    command
      .argument("<id>", "the id of the conversation, or the beginning of the id")
      .addOption(new Option("--format <format>", "md: Markdown; json: every event").choices(["md", "json"]));
  },

  async run(context) {
    const { out, globals, command, operands } = context;
    const { format = globals.json ? "json" : "md" } = command.opts<{ readonly format?: "md" | "json" }>();
    if (globals.json && format !== "json") throw new HostError("usage", "--json and --format md cannot be combined");
    const recorded = await conversationOfId(operands[0] ?? "", await configurationOf(context));
    if (format === "json") return out.json(conversationDocument(recorded));
    const { items, model } = stateAfter(recorded, size);
    out.print(toSafeText((toMarkdown(items, model.name) ?? "").trimEnd()));
  },
};

/** `show` and `export`. */
export const verbs: Readonly<Record<"list" | "clean" | "show" | "export", Verb>> = {
  list,
  clean,
  show,
  export: exporting,
};
