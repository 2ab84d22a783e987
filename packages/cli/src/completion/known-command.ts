/** Describes a command's arguments and options as plain data, taken from its definition. */

import { globalOptions, ownOptions } from "../shell/help.ts";
import { type CommandRow, verbs } from "../shell/verbs.ts";

export interface KnownCommand {
  readonly operands: readonly KnownOperand[];
  readonly options: readonly KnownOption[];
  /** Whether all words after its arguments belong to another program. */
  readonly isWrapper: boolean;
}

export interface KnownOperand {
  readonly placeholder: string;
  readonly isRepeated: boolean;
  readonly choices?: readonly string[];
}

export interface KnownOption {
  /** As in the help: `-t, --transport <kind>`. */
  readonly flags: string;
  readonly summary: string;
  readonly choices?: readonly string[];
}

/** Built into the bundle, because describing a command loads its module, which is too slow for Tab. */
declare const FAIRLEAD_COMMANDS: Readonly<Record<string, KnownCommand>> | undefined;

/** Describes all commands by name, for the bundle. */
export async function describeCommands(): Promise<Readonly<Record<string, KnownCommand>>> {
  return Object.fromEntries(await Promise.all(verbs.map(async (row) => [row.words, await describe(row)] as const)));
}

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

/** Returns the long form of an option, or else its short form. */
export function longFlagOf({ flags }: KnownOption): string {
  return spellingsOf({ flags }).at(-1) ?? "";
}

export function spellingsOf({ flags }: Pick<KnownOption, "flags">): readonly string[] {
  return flags.match(/(?<=^|, )-[^\s,<[]+/g) ?? [];
}

/** Returns the name of the option's value; undefined if it takes none. */
export function placeholderOf({ flags }: KnownOption): string | undefined {
  return /[<[](.*?)(?:\.\.\.)?[>\]]$/.exec(flags)?.[1];
}

export function needsValue({ flags }: KnownOption): boolean {
  return flags.endsWith(">");
}
