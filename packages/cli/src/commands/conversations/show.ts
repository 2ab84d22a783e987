/** `fairlead show`: prints a recorded conversation. `fairlead export`: prints it as Markdown or JSON. */

import { HostError } from "@fairlead/core/errors";
import { toSafeText } from "@fairlead/core/text/safe-text";
import { Option } from "commander";
import { conversationDocument } from "../../conversations/conversation-document.ts";
import { conversationOfId } from "../../conversations/find-conversation.ts";
import { stateAfter } from "../../conversations/recorded-events.ts";
import { columnsOf } from "../../output/wrap.ts";
import { configurationOf } from "../../shell/configuration.ts";
import type { Verb } from "../../shell/verb.ts";
import { itemText } from "../../tui/plain/plain-text.ts";
import { toMarkdown } from "../../tui/state/conversation-text.ts";

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
export const showVerbs: { readonly show: Verb; readonly export: Verb } = { show, export: exporting };
