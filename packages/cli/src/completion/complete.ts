/** Completes the word at the cursor. Starts no server. */

import { ownOptions } from "../shell/help.ts";
import type { Io } from "../shell/verb.ts";
import { commandGroups, verbs } from "../shell/verbs.ts";
import { type CompletionAnswer, nothing, type Suggestion, toWords, withPrefix } from "./answer.ts";
import {
  type KnownCommand,
  type KnownOption,
  knownCommand,
  longFlagOf,
  placeholderOf,
  sourceOfOperand,
  sourceOfOption,
  type ValueSource,
} from "./known-command.ts";
import { type Cursor, findCommand, isForeign, readWords, splitOption } from "./typed-words.ts";

/** Returns completions. `words`: the words before the current word. `current`: the current word up to the cursor. */
export async function completeWord(words: readonly string[], current: string, io: Io): Promise<CompletionAnswer> {
  const found = findCommand(words);
  // After a command group such as `mcp`, the options of `fairlead` itself are suggested. `lock` is a group and also a
  // command, so its own options are suggested.
  const own = found?.kind === "group" ? verbs.find((verb) => verb.words === found.group) : found?.row;
  const row = own ?? verbs.find((verb) => verb.words === "");
  if (found === undefined || row === undefined) return nothing;
  const command = await knownCommand(row);
  const typed = readWords(found.words, command);
  const at: Cursor = { words: row.words, typed, current, io };
  if (typed.pending) return completeValue(typed.pending, at);
  const { option: last } = splitOption(found.words.at(-1) ?? "", command);
  // `--resume` takes the next word as its value, unless that word is an option.
  if (!current.startsWith("-") && last && sourceOfOption(row.words, last) === "conversations")
    return completeValue(last, at);
  if (typed.takesOptions && current.startsWith("-"))
    return completeOption(found.kind === "group" && found.group === "" ? withVersion(command) : command, at);
  if (found.kind === "group") return toWords(commandsIn(found.group, found.isHelp));
  return found.isHelp ? nothing : completeOperand(command, at);
}

function withVersion(command: KnownCommand): KnownCommand {
  const [flags, summary] = ownOptions.version;
  return { ...command, options: [...command.options, { flags, summary }] };
}

async function completeOption(command: KnownCommand, at: Cursor): Promise<CompletionAnswer> {
  const { option, value } = splitOption(at.current, command);
  if (value === undefined)
    return toWords(command.options.map((each) => ({ value: longFlagOf(each), about: each.summary })));
  if (option === undefined || placeholderOf(option) === undefined) return nothing;
  const prefix = at.current.slice(0, at.current.length - value.length);
  return withPrefix(prefix, await completeValue(option, { ...at, current: value }));
}

function completeValue(option: KnownOption, at: Cursor): Promise<CompletionAnswer> {
  if (option.choices) return Promise.resolve(chosenFrom(option.choices));
  return withSource(sourceOfOption(at.words, option), at);
}

function completeOperand(command: KnownCommand, at: Cursor): Promise<CompletionAnswer> {
  const { operands } = at.typed;
  if (isForeign(operands, command)) return withSource("files", at);
  const last = command.operands.at(-1);
  const operand = command.operands[operands.length] ?? (last?.isRepeated ? last : undefined);
  if (operand === undefined) return Promise.resolve(nothing);
  if (operand.choices) return Promise.resolve(chosenFrom(operand.choices));
  return withSource(sourceOfOperand(at.words, operand), at);
}

function chosenFrom(choices: readonly string[]): CompletionAnswer {
  return toWords(choices.map((value) => ({ value })));
}

function commandsIn(group: string, isHelp: boolean): readonly Suggestion[] {
  const shown = verbs.filter(({ words }) => words !== "");
  if (group !== "")
    return shown.flatMap(({ words, summary }) =>
      words.startsWith(`${group} `) ? { value: words.slice(group.length + 1), about: summary } : [],
    );
  const errors = shown.filter(({ words }) => isHelp && words.startsWith("help "));
  return [
    ...[...commandGroups].map(([value, about]) => ({ value, about })),
    ...shown.flatMap(({ words, summary }) =>
      words.includes(" ") || commandGroups.has(words) ? [] : { value: words, about: summary },
    ),
    ...errors.map(({ words, summary }) => ({ value: words.slice("help ".length), about: summary })),
    ...(isHelp ? [] : [{ value: "help", about: "show help for a command or an error code" }]),
  ];
}

/**
 * Suggests values from a source such as the settings. Imports the code for the source only when it is needed, because
 * Tab must be fast.
 */
async function withSource(source: ValueSource | undefined, at: Cursor): Promise<CompletionAnswer> {
  if (source === undefined) return nothing;
  const { fromSource } = await import("./from-source.ts");
  return fromSource(source, at);
}
