/** What completion knows of a command: its operands and options as plain data, taken from its own definition. */

import { globalOptions, ownOptions } from "../shell/help.ts";
import { type CommandRow, verbs } from "../shell/verbs.ts";

export interface KnownCommand {
  readonly operands: readonly KnownOperand[];
  readonly options: readonly KnownOption[];
  /** Once its own operands are there, all words are another program's. */
  readonly isWrapper: boolean;
}

export interface KnownOperand {
  readonly placeholder: string;
  readonly isRepeated: boolean;
  readonly choices?: readonly string[];
}

export interface KnownOption {
  /** As in its help: `-t, --transport <kind>`. */
  readonly flags: string;
  readonly summary: string;
  readonly choices?: readonly string[];
}

/** A bundle has them inside: to describe a command means to load it, and a Tab key does not wait. */
declare const FAIRLEAD_COMMANDS: Readonly<Record<string, KnownCommand>> | undefined;

/** For the bundle: all of them, by their words. */
export async function describeCommands(): Promise<Readonly<Record<string, KnownCommand>>> {
  return Object.fromEntries(await Promise.all(verbs.map(async (row) => [row.words, await describe(row)] as const)));
}

/** With the options that all commands have. */
export async function knownCommand(row: CommandRow): Promise<KnownCommand> {
  const built = typeof FAIRLEAD_COMMANDS === "object" ? FAIRLEAD_COMMANDS[row.words] : undefined;
  const own = built ?? (await describe(row));
  const everywhere = [...globalOptions, ownOptions.help].map(([flags, summary]) => ({ flags, summary }));
  return { ...own, options: [...own.options, ...everywhere] };
}

async function describe({ load }: CommandRow): Promise<KnownCommand> {
  const [{ verb }, { Command }] = await Promise.all([load(), import("commander")]);
  const command = new Command();
  verb.define(command);
  return {
    operands: command.registeredArguments.map((operand) => ({
      placeholder: operand.name(),
      isRepeated: operand.variadic,
      ...(operand.argChoices && { choices: operand.argChoices }),
    })),
    options: command.options.map(({ flags, description, argChoices }) => ({
      flags,
      summary: description,
      ...(argChoices && { choices: argChoices }),
    })),
    isWrapper: verb.split !== undefined,
  };
}

/** The spelling to offer: the long one, if there is one. */
export function longFlagOf({ flags }: KnownOption): string {
  return spellingsOf({ flags }).at(-1) ?? "";
}

export function spellingsOf({ flags }: Pick<KnownOption, "flags">): readonly string[] {
  return flags.match(/(?<=^|, )-[^\s,<[]+/g) ?? [];
}

/** What its value is called; none, if it takes none. */
export function placeholderOf({ flags }: KnownOption): string | undefined {
  return /[<[](.*?)(?:\.\.\.)?[>\]]$/.exec(flags)?.[1];
}

/** Whether the next word is its value, whatever that is. */
export function needsValue({ flags }: KnownOption): boolean {
  return flags.endsWith(">");
}
