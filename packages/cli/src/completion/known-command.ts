/** Describes a command's arguments and options as plain data, and says where Tab completion finds values for them. */

import { globalOptions, ownOptions } from "../shell/help.ts";
import { type CommandRow, verbs } from "../shell/verbs.ts";

/** The arguments and options of one command. */
export interface KnownCommand {
  readonly operands: readonly KnownOperand[];
  readonly options: readonly KnownOption[];
  /** Whether all words after the command's arguments belong to a program that Fairlead starts. */
  readonly isWrapper: boolean;
}

interface KnownOperand {
  readonly placeholder: string;
  readonly isRepeated: boolean;
  readonly choices?: readonly string[];
}

/** One option of a command. `summary` is its help text. */
export interface KnownOption {
  /** The option as help shows it: `-t, --transport <kind>`. */
  readonly flags: string;
  readonly summary: string;
  readonly choices?: readonly string[];
}

/**
 * The descriptions of all commands, made when the bundle is built: describing a command at run time would load its
 * module, which is too slow for Tab.
 */
declare const FAIRLEAD_COMMANDS: Readonly<Record<string, KnownCommand>> | undefined;

/** Returns the descriptions of all commands by name, for the bundle. */
export async function describeCommands(): Promise<Readonly<Record<string, KnownCommand>>> {
  return Object.fromEntries(await Promise.all(verbs.map(async (row) => [row.words, await describe(row)] as const)));
}

/** Returns a command's arguments and options, including the global options. */
export async function knownCommand(row: CommandRow): Promise<KnownCommand> {
  const built = typeof FAIRLEAD_COMMANDS === "object" ? FAIRLEAD_COMMANDS[row.words] : undefined;
  const own = built ?? (await describe(row));
  const everywhere = [...globalOptions, ownOptions.help].map(([flags, summary]) => ({ flags, summary }));
  return { ...own, options: [...own.options, ...everywhere] };
}

async function describe({ load }: CommandRow): Promise<KnownCommand> {
  const [{ verb }, { Command }] = await Promise.all([load(), import("commander")]);
  const command = new Command();
  verb.define?.(command);
  return {
    operands: command.registeredArguments.map((operand) => ({
      placeholder: operand.name(),
      isRepeated: operand.variadic,
      choices: operand.argChoices,
    })),
    options: command.options.map(({ flags, description, argChoices }) => ({
      flags,
      summary: description,
      choices: argChoices,
    })),
    isWrapper: verb.split !== undefined,
  };
}

/** Returns the long form of an option. Returns the short form if there is no long form. */
export function longFlagOf({ flags }: KnownOption): string {
  return spellingsOf({ flags }).at(-1) ?? "";
}

/** Returns the option's short and long forms, such as `-t` and `--transport`. */
export function spellingsOf({ flags }: Pick<KnownOption, "flags">): readonly string[] {
  return flags.match(/(?<=^|, )-[^\s,<[]+/g) ?? [];
}

/** Returns the placeholder of the option's value. Returns undefined if the option takes no value. */
export function placeholderOf({ flags }: KnownOption): string | undefined {
  return /[<[](.*?)(?:\.\.\.)?[>\]]$/.exec(flags)?.[1];
}

/** Whether the option requires a value (`--name <value>`, not `--name [value]`). */
export function needsValue({ flags }: KnownOption): boolean {
  return flags.endsWith(">");
}

/** Kinds of values that Tab completion takes from a server's cached catalog. */
export type ServerSource = "call" | "tools" | "resources" | "skills" | "variables" | "prompts" | "prompt-arguments";
/** Where Tab completion finds values. `entries` are servers with an entry in the settings. */
export type ValueSource =
  | "files"
  | "folders"
  | "bundles"
  | "servers"
  | "entries"
  | "secrets"
  | "errors"
  | "conversations"
  | ServerSource;

/** For each placeholder, such as `<dir>`: where Tab completion finds the values. This applies to every command. */
const placeholders: ReadonlyMap<string, ValueSource> = new Map([
  ["dir", "folders"],
  ["file", "files"],
  ["path", "files"],
  ["target", "files"],
  ["server", "servers"],
  ["servers", "servers"],
  ["code", "errors"],
  ["id", "conversations"],
  ["id|file", "conversations"],
]);

const ofEntries = ["get", "test", "logs", "remove", "enable", "disable", "auth", "logout", "pin", "update"];

const ofTools = ["policy explain", "policy allow", "policy ask", "policy deny"];
const withToolOptions = ["call", "history", "policy remove", ...ofTools];

/** For an argument or option of one command, such as `secret set name`: where Tab completion finds the values. */
const particular: ReadonlyMap<string, ValueSource> = new Map<string, ValueSource>([
  ...ofEntries.map((verb): [string, ValueSource] => [`mcp ${verb} name`, "entries"]),
  ["mcp add name", "bundles"],
  ["mcp update name", "entries"],
  ["mcp sandbox name", "entries"],
  ["mcp add --registry", "files"],
  ["mcp search --registry", "files"],
  ["secret set name", "secrets"],
  ["secret remove name", "secrets"],
  ["call words", "call"],
  ...ofTools.map((verb): [string, ValueSource] => [`${verb} server.tool`, "call"]),
  ...withToolOptions.map((verb): [string, ValueSource] => [`${verb} --server`, "servers"]),
  ...withToolOptions.map((verb): [string, ValueSource] => [`${verb} --tool`, "tools"]),
  ["policy remove rule", "call"],
  ["-p --allow", "call"],
  ["-p --servers", "servers"],
  ["read resource", "resources"],
  ["read --arg", "variables"],
  ["skills show skill", "skills"],
  ["skills get skill", "skills"],
  ["prompt prompt", "prompts"],
  ["prompt values", "prompt-arguments"],
  ["prompt --arg", "prompt-arguments"],
]);

/** Returns where the values of a command's argument come from. Undefined if there is no such source. */
export function sourceOfOperand(words: string, { placeholder }: KnownOperand): ValueSource | undefined {
  return particular.get(`${words} ${placeholder}`) ?? placeholders.get(placeholder);
}

/** Returns where the values of a command's option come from. Undefined if there is no such source. */
export function sourceOfOption(words: string, option: KnownOption): ValueSource | undefined {
  return particular.get(`${words} ${longFlagOf(option)}`) ?? placeholders.get(placeholderOf(option) ?? "");
}
