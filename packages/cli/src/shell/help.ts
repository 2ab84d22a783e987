/**
 * The text of `fairlead --help` and of a command group's help. It is built from the command table, without loading
 * commands.
 */

import { appOptions } from "./app-options.ts";
import { type CommandRow, commandGroups, groupOf, verbs } from "./verbs.ts";

/** The options that every command has. */
export const globalOptions: readonly (readonly [flags: string, help: string])[] = [
  ["-C <dir>", "use this folder as the workspace root"],
  ["--settings <file>", "read this file instead of the user settings"],
  ["--no-workspace", "ignore the workspace's settings"],
  ["--trust-workspace", "trust the workspace and approve its servers, for this run only"],
  ["--json", "print one JSON document on stdout"],
  ["-q, --quiet", "print data and errors only"],
  ["--debug [server]", "write protocol messages to the server's log, with secrets hidden"],
  ["--record <dir>", "record the servers' messages in this folder, for fairlead serve-recording"],
];

/** The options `--version` and `--help`. */
export const ownOptions: Readonly<Record<"version" | "help", readonly [flags: string, help: string]>> = {
  version: ["-V, --version", "print the version"],
  help: ["-h, --help", "show help; works for every command"],
};

/** Returns the text of `fairlead --help`. */
export function rootHelp(): string {
  const single = verbs.filter(({ words }) => words !== "" && groupOf(words) === "" && !words.startsWith("help "));
  return [
    "Fairlead connects a model to MCP servers and checks every call against your rules.",
    "",
    "usage: fairlead [options] <command>",
    "       fairlead                      open the app: chat with a model, or call tools yourself",
    '       fairlead "what is new?"       the same, with a first message',
    "",
    ...[...commandGroups].flatMap(([group, heading]) => [`${heading}:`, ...list(inGroup(group)), ""]),
    "use servers:",
    ...list(single),
    "",
    "options of the app:",
    ...columns(appOptions),
    "",
    "options, before or after the command:",
    ...columns(globalOptions),
    ...columns([ownOptions.version, ownOptions.help]),
    "",
    "Try: fairlead call demo.greet name=you",
    "Errors and exit codes: fairlead help errors",
    "",
  ].join("\n");
}

/** Returns the help text of a command group such as `mcp`. */
export function groupHelp(group: string): string {
  return [
    ...[...commandGroups]
      .filter(([name]) => `${name} `.startsWith(`${group} `))
      .flatMap(([name, heading]) => [`${heading}:`, ...list(inGroup(name)), ""]),
    `More: fairlead ${group} <command> --help`,
    "",
  ].join("\n");
}

function inGroup(group: string): readonly CommandRow[] {
  return verbs.filter(({ words }) => groupOf(words) === group);
}

function list(rows: readonly CommandRow[]): string[] {
  return columns(rows.map(({ words, summary }) => [`fairlead ${words}`, summary]));
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  return rows.map(([left, right]) => `  ${left.padEnd(27)}  ${right}`);
}
