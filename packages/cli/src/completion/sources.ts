/** Maps the arguments and options of commands to the source of their values. */

import { type KnownOperand, type KnownOption, longFlagOf, placeholderOf } from "./known-command.ts";

export type ServerSource = "call" | "tools" | "resources" | "variables" | "prompts" | "prompt-arguments";
export type ValueSource = "files" | "folders" | "servers" | "entries" | "secrets" | "errors" | ServerSource;

/** Sources by placeholder, for all commands. */
const placeholders: ReadonlyMap<string, ValueSource> = new Map([
  ["dir", "folders"],
  ["file", "files"],
  ["path", "files"],
  ["target", "files"],
  ["server", "servers"],
  ["code", "errors"],
]);

const ofEntries = ["get", "test", "logs", "remove", "enable", "disable", "auth", "logout", "pin"];

const ofTools = ["policy explain", "policy allow", "policy ask", "policy deny"];
const withToolOptions = ["call", "history", ...ofTools];

/** Sources for one command: an argument by its placeholder, an option by its name. */
const particular: ReadonlyMap<string, ValueSource> = new Map<string, ValueSource>([
  ...ofEntries.map((verb): [string, ValueSource] => [`mcp ${verb} name`, "entries"]),
  ["secret set name", "secrets"],
  ["secret remove name", "secrets"],
  ["call words", "call"],
  ...ofTools.map((verb): [string, ValueSource] => [`${verb} server.tool`, "call"]),
  ...withToolOptions.map((verb): [string, ValueSource] => [`${verb} --server`, "servers"]),
  ...withToolOptions.map((verb): [string, ValueSource] => [`${verb} --tool`, "tools"]),
  ["-p --allow", "call"],
  ["-p --servers", "servers"],
  ["read resource", "resources"],
  ["read --arg", "variables"],
  ["prompt prompt", "prompts"],
  ["prompt values", "prompt-arguments"],
  ["prompt --arg", "prompt-arguments"],
]);

export function sourceOfOperand(words: string, { placeholder }: KnownOperand): ValueSource | undefined {
  return particular.get(`${words} ${placeholder}`) ?? placeholders.get(placeholder);
}

export function sourceOfOption(words: string, option: KnownOption): ValueSource | undefined {
  return particular.get(`${words} ${longFlagOf(option)}`) ?? placeholders.get(placeholderOf(option) ?? "");
}
