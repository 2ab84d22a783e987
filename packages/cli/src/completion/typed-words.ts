/** Parses the words before the cursor into the command, its options and its arguments. */

import { firstWord, isPrompt } from "../shell/resolve.ts";
import type { Io } from "../shell/verb.ts";
import { type CommandRow, commandGroups, verbs } from "../shell/verbs.ts";
import { type KnownCommand, type KnownOption, longFlagOf, needsValue, spellingsOf } from "./known-command.ts";

/**
 * What the typed words name: a command, or only a command group such as `mcp`. `group` is "" if no word is typed yet.
 */
export type FoundCommand =
  | { readonly kind: "group"; readonly group: string; readonly isHelp: boolean; readonly words: readonly string[] }
  | { readonly kind: "command"; readonly row: CommandRow; readonly isHelp: boolean; readonly words: readonly string[] };

/** Finds the command that the words name. Returns undefined if there is none. */
export function findCommand(words: readonly string[], isHelp = false): FoundCommand | undefined {
  const start = firstWord(words);
  const [first, ...rest] = words.slice(start);
  const before = words.slice(0, start);
  const prompt = isPrompt(before) ? rowOf("-p") : undefined;
  if (prompt) return { kind: "command", row: prompt, isHelp, words };
  if (first === undefined) return { kind: "group", group: "", isHelp, words: before };
  const single = rowOf(first);
  if (single && !commandGroups.has(first)) return { kind: "command", row: single, isHelp, words: [...before, ...rest] };
  const own = first === "help" && rest[0] !== undefined ? rowOf(`help ${rest[0]}`) : undefined;
  if (own) return { kind: "command", row: own, isHelp, words: [...before, ...rest.slice(1)] };
  if (first === "help") return isHelp ? undefined : findCommand([...before, ...rest], true);
  return commandGroups.has(first) ? findInGroup(first, before, rest, isHelp) : undefined;
}

/** A group may contain groups: `team policy push`. */
function findInGroup(
  group: string,
  before: readonly string[],
  rest: readonly string[],
  isHelp: boolean,
): FoundCommand | undefined {
  const at = firstWord(rest);
  const next = rest[at];
  if (next === undefined) return { kind: "group", group, isHelp, words: [...before, ...rest] };
  const name = `${group} ${next}`;
  const [options, others] = [[...before, ...rest.slice(0, at)], rest.slice(at + 1)];
  if (commandGroups.has(name)) return findInGroup(name, options, others, isHelp);
  const row = rowOf(name);
  return row && { kind: "command", row, isHelp, words: [...options, ...others] };
}

function rowOf(words: string): CommandRow | undefined {
  return verbs.find((row) => row.words === words && words !== "");
}

/** The words before the cursor without the command's name, split into arguments and options. */
export interface Typed {
  readonly operands: readonly string[];
  /** The values of the typed options, by the option's long name. An option without a value has the value "". */
  readonly values: ReadonlyMap<string, string>;
  /** The option whose value is the word at the cursor. */
  readonly pending: KnownOption | undefined;
  /**
   * Whether the word at the cursor may be an option of Fairlead. False after `--` and in another program's command
   * line.
   */
  readonly takesOptions: boolean;
}

/** Splits the words before the cursor, without the command's name. An unknown option is ignored. */
export function readWords(words: readonly string[], command: KnownCommand): Typed {
  const operands: string[] = [];
  const values = new Map<string, string>();
  let pending: KnownOption | undefined;
  let takesOptions = true;
  for (const word of words) {
    if (pending) {
      values.set(longFlagOf(pending), word);
      pending = undefined;
    } else if (takesOptions && word === "--") takesOptions = false;
    else if (takesOptions && word.startsWith("-") && word !== "-") {
      const { option, value } = splitOption(word, command);
      if (option && value === undefined && needsValue(option)) pending = option;
      else if (option) values.set(longFlagOf(option), value ?? "");
    } else {
      operands.push(word);
      if (isForeign(operands, command)) takesOptions = false;
    }
  }
  return { operands, values, pending, takesOptions };
}

/** Whether the word at the cursor belongs to the command line of a program that Fairlead starts. */
export function isForeign(operands: readonly string[], { isWrapper, operands: own }: KnownCommand): boolean {
  return isWrapper && operands.length >= own.length;
}

/** Splits `--name=value`. `value` is undefined if there is no "=". */
export function splitOption(
  word: string,
  { options }: KnownCommand,
): { readonly option: KnownOption | undefined; readonly value: string | undefined } {
  const at = word.startsWith("--") ? word.indexOf("=") : -1;
  const flag = at === -1 ? word : word.slice(0, at);
  const option = options.find((each) => spellingsOf(each).includes(flag));
  return { option, value: at === -1 ? undefined : word.slice(at + 1) };
}

/** The command line up to the cursor: the command, the words after it, and the current word. */
export interface Cursor {
  /** The command's name, such as `mcp get`. */
  readonly words: string;
  readonly typed: Typed;
  /** The current word, or the value part of `--option=value`. */
  readonly current: string;
  readonly io: Io;
}
