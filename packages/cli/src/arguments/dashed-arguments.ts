/** Rewrites a tool's arguments that were typed as options: `--name Ada` becomes `name=Ada`. */

import type { Command } from "commander";

/**
 * Returns the words with every option that the command does not have as `key=value`. An option without a value becomes
 * `key=true`.
 */
export function toNamedArguments(words: readonly string[], { options }: Pick<Command, "options">): readonly string[] {
  const [word, next, ...rest] = words;
  if (word === undefined) return [];
  const [flag = "", value] = splitAt(word, word.indexOf("="));
  const option = options.find(({ short, long }) => flag === short || flag === long);
  const others = next === undefined ? [] : [next, ...rest];
  if (option === undefined && /^--[^-]/.test(flag)) {
    const key = flag.slice(2);
    if (value !== undefined) return [`${key}=${value}`, ...toNamedArguments(others, { options })];
    if (next === undefined || next.startsWith("-")) return [`${key}=true`, ...toNamedArguments(others, { options })];
    return [`${key}=${next}`, ...toNamedArguments(rest, { options })];
  }
  const takesNext = option?.required === true && value === undefined && next !== undefined;
  return takesNext
    ? [word, next, ...toNamedArguments(rest, { options })]
    : [word, ...toNamedArguments(others, { options })];
}

function splitAt(word: string, at: number): readonly string[] {
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}
