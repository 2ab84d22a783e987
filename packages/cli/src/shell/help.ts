/** Help that needs no command loaded: the first screen of `--help` and that of a group. */

import { appOptions } from "./app-options.ts";
import { type CommandRow, commandGroups, verbs } from "./verbs.ts";

export const globalOptions: readonly (readonly [flags: string, help: string])[] = [
  ["-C <dir>", "use this folder as the workspace root"],
  ["--settings <file>", "read this file instead of the user settings"],
  ["--no-workspace", "leave the workspace's settings out"],
  ["--trust-workspace", "for this run, trust the workspace and approve its servers as they stand"],
  ["--json", "print one JSON document on stdout"],
  ["-q, --quiet", "print data and errors only"],
  ["--debug [server]", "write redacted wire messages to the server's log"],
];

export const ownOptions: Readonly<Record<"version" | "help", readonly [flags: string, help: string]>> = {
  version: ["-V, --version", "print the version"],
  help: ["-h, --help", "help, for every command too"],
};

export function rootHelp(): string {
  const single = verbs.filter(({ words }) => words !== "" && !commandGroups.has(head(words)) && head(words) !== "help");
  return [
    "Fairlead connects a model to MCP servers, and stands between the two.",
    "",
    "usage: fairlead [options] <command>",
    "       fairlead                      the app: talk to a model, or call tools yourself",
    "",
    ...[...commandGroups].flatMap(([group, heading]) => [`${heading}:`, ...list(inGroup(group)), ""]),
    "use them:",
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

export function groupHelp(group: string): string {
  return [
    `${commandGroups.get(group) ?? group}:`,
    ...list(inGroup(group)),
    "",
    `More: fairlead ${group} <command> --help`,
    "",
  ].join("\n");
}

function inGroup(group: string): readonly CommandRow[] {
  return verbs.filter(({ words }) => head(words) === group);
}

function list(rows: readonly CommandRow[]): string[] {
  return columns(rows.map(({ words, summary }) => [`fairlead ${words}`, summary]));
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  return rows.map(([left, right]) => `  ${left.padEnd(27)}  ${right}`);
}

function head(words: string): string {
  return words.split(" ")[0] ?? "";
}
