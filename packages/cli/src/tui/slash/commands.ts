/**
 * The list of all slash commands: first the built-in commands, then the servers' prompts. Also contains the short
 * built-in commands.
 */

import { HostError } from "@fairlead/core/errors";
import { toVisibleLine } from "@fairlead/core/text/safe-text";
import { callName } from "../input/call-words.ts";
import type { Services } from "../services.ts";
import { askTrust, reviewHere } from "../session/begin.ts";
import { lookFor, type SlashCommand, wordsOf } from "./command.ts";
import { call, clear, compact, copy, exportConversation, rename, resume } from "./conversation.ts";
import { form } from "./form.ts";
import { type HelpRow, helpText, promptKeys } from "./help-text.ts";
import { mcp } from "./mcp.ts";
import { model } from "./model.ts";
import { promptCommands } from "./prompt-commands.ts";
import { prompts, resources, tools } from "./tools.ts";

const verbs: ReadonlyMap<string, string> = new Map([
  ["list", "list the rules"],
  ["explain", "show which rule decides for a tool"],
  ["allow", "allow a tool to run without confirmation"],
  ["ask", "ask you before each call of a tool"],
  ["deny", "deny every call of a tool"],
  ["remove", "remove a rule"],
]);
const changing: ReadonlySet<string> = new Set(["allow", "ask", "deny", "remove"]);

const policy: SlashCommand = {
  name: "policy",
  summary: "show and change the rules for tool calls",
  usage: "[list|explain|allow|ask|deny|remove] [SERVER.TOOL]",
  complete: ([verb], { session }) =>
    verb === undefined
      ? [...verbs].map(([value, about]) => ({ value, about }))
      : session.conversation.tools().map((tool) => ({ value: callName(tool), about: tool.description })),
  async run(line, { session, runVerb }) {
    const [verb = "list", ...words] = wordsOf(line);
    const run = (): Promise<string> => runVerb("policy", verb, ...words);
    session.show(`/policy ${verb}`, await (changing.has(verb) ? session.host.changeSettings(run) : run()));
  },
};

const trust: SlashCommand = {
  name: "trust",
  summary: "trust this folder and its servers, or revoke the trust",
  usage: "[add|list|remove]",
  complete: ([verb]) => (verb === undefined ? ["add", "list", "remove"].map((value) => ({ value })) : []),
  async run(line, services) {
    const { session, runVerb } = services;
    const [verb = "", ...words] = wordsOf(line);
    const found = verb === "" || verb === "add" ? await reviewHere(services) : undefined;
    if (found !== undefined && (found.pending.length > 0 || (verb === "add" && found.needsTrust)))
      return askTrust(found, services);
    const shown = verb === "remove" ? "remove" : "list";
    const run = (): Promise<string> => runVerb("trust", shown, ...words);
    session.show(`/trust ${shown}`, await (shown === "remove" ? session.host.changeSettings(run) : run()));
  },
};

const history: SlashCommand = {
  name: "history",
  summary: "show recent calls and the rules that decided them",
  usage: "[--server NAME] [--denied] [--since 1d]",
  complete: () => ["--server", "--tool", "--since", "--denied", "--utc", "--limit"].map((value) => ({ value })),
  async run(words, { session, runVerb }) {
    // Otherwise the list could lack the call that has just ended.
    await session.host.flushHistory();
    session.show("/history", await runVerb("history", "--limit", "20", ...wordsOf(words)));
  },
};

const openConsole: SlashCommand = {
  name: "console",
  summary: "open a page in the browser with all servers, calls and questions",
  run: (_words, services) => services.openConsole(),
};

const quit: SlashCommand = {
  name: "quit",
  summary: "quit (also: Ctrl-C twice on an empty prompt)",
  run: (_words, { session }) => session.quit(),
};

/** The rows of `/help`. Few enough for a screen of 24 rows and 80 columns. */
export const helpGroups: readonly (readonly [names: readonly string[], words: string])[] = [
  [["mcp"], "servers: add, list, sign in, stop, logs"],
  [["tools", "resources", "prompts"], "what the servers offer"],
  [["call", "form"], "call a tool, with arguments or in a form"],
  [["model"], "choose a model"],
  [["policy", "trust"], "rules for calls; trusted folders"],
  [["history"], "recent calls and the rules that decided them"],
  [["console"], "servers, calls and questions in a browser"],
  [["clear", "resume", "rename"], "new conversation, an earlier one, its name"],
  [["compact", "copy", "export"], "shorten it, copy the last answer, write a file"],
  [["help", "quit"], "this text; quit Fairlead"],
];

const mainKeys: readonly HelpRow[] = [
  ["Enter, Alt-Enter", "send; new line"],
  ["Tab, ↑, Ctrl-R", "complete; earlier entries; search them"],
  ["Esc, Ctrl-C twice", "stop the call, then the turn; quit"],
];

const help: SlashCommand = {
  name: "help",
  summary: "list the commands; with a name, one command; keys: all keys; all: everything",
  usage: "[COMMAND|keys|all]",
  complete: ([word], services) =>
    word === undefined
      ? ["keys", "all", ...commandsOf(services).map(({ name }) => name)].map((value) => ({ value }))
      : [],
  run(words, services) {
    const { session } = services;
    const { columns } = lookFor(services);
    const wanted = words.trim().replace(/^\//, "");
    const rows = session.commands().map(({ name, usage, summary }) => ({
      name,
      row: [
        toVisibleLine(`/${name}${usage === undefined ? "" : ` ${usage}`}`),
        toVisibleLine(summary),
      ] satisfies HelpRow,
    }));
    const all = rows.map(({ row }) => row);
    if (wanted === "") return session.show("/help", shortHelp(columns));
    if (wanted === "keys") return session.show("/help keys", helpText(promptKeys, columns));
    if (wanted === "all")
      return session.show("/help all", `${helpText(all, columns)}\n\n${helpText(promptKeys, columns)}`);
    const found = rows.find(({ name }) => name === wanted);
    if (found === undefined) throw new HostError("usage", `there is no command /${wanted}`, { next: "/help" });
    session.show(`/help ${found.name}`, helpText([found.row], columns));
  },
};

function shortHelp(columns: number): string {
  const commands = helpGroups.map(([names, words]): HelpRow => [names.map((name) => `/${name}`).join(" "), words]);
  return [
    helpText([["server.tool key=value …", "call a tool yourself"], ...commands], columns),
    "",
    helpText(mainKeys, columns),
    "",
    "More: /help COMMAND, /help keys, /help all. Prompts are commands too.",
  ].join("\n");
}

/** The built-in slash commands, in the order in which `/help` lists them. */
export const builtIns: readonly SlashCommand[] = [
  mcp,
  tools,
  resources,
  prompts,
  call,
  form,
  clear,
  resume,
  rename,
  compact,
  copy,
  exportConversation,
  model,
  policy,
  trust,
  history,
  openConsole,
  help,
  quit,
];
const taken: ReadonlySet<string> = new Set(builtIns.map(({ name }) => name));

/** Returns the built-in commands, and one command for each prompt of a server. */
export function commandsOf({ session }: Services): readonly SlashCommand[] {
  return [...builtIns, ...promptCommands(session.host.prompts(), taken)];
}
