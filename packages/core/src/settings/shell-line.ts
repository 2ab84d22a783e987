/** Splits a command line into words, with the quoting rules of a shell. Refuses operators and substitutions. */

/** The words of a command line, or why Fairlead refuses the line. */
export type ShellLine =
  /** The words, written as settings values: a quoted dollar sign becomes `$$`. */
  | { readonly kind: "words"; readonly words: readonly string[] }
  /** The line is refused. `at` is the position of the mistake in characters, counted from 1. */
  | { readonly kind: "refused"; readonly reason: string; readonly at: number };

interface Word {
  readonly text: string;
  readonly at: number;
}

const operators = "|&;<>()`\n\r";

/** Splits a command line into words. Runs nothing and expands nothing. */
export function splitShellLine(line: string): ShellLine {
  const words: Word[] = [];
  let word: string | undefined;
  let start = 0;
  let quote: { readonly sign: string; readonly at: number } | undefined;
  for (let index = 0; index < line.length; index += 1) {
    if (word === undefined) start = index;
    const character = line.charAt(index);
    const next = line.charAt(index + 1);
    const refused = (what: string): ShellLine => ({ kind: "refused", reason: what, at: index + 1 });
    if (quote?.sign === "'") {
      if (character === "'") quote = undefined;
      else word += character === "$" ? "$$" : character;
    } else if (character === "`" || (character === "$" && next === "(")) {
      return refused(`${character === "`" ? "a backtick" : '"$("'} would run another command`);
    } else if (character === "\\" && isEscape(next, quote !== undefined)) {
      if (next === "" || next === "\n") return refused("a backslash ends the line");
      word = (word ?? "") + (next === "$" ? "$$" : next);
      index += 1;
    } else if (quote !== undefined) {
      if (character === quote.sign) quote = undefined;
      else word += character;
    } else if (character === '"' || character === "'") {
      quote = { sign: character, at: index + 1 };
      word ??= "";
    } else if (operators.includes(character)) {
      return refused(`${JSON.stringify(character)} needs a shell`);
    } else if (character === " " || character === "\t") {
      if (word !== undefined) words.push({ text: word, at: start + 1 });
      word = undefined;
    } else word = (word ?? "") + character;
  }
  if (quote !== undefined) return { kind: "refused", reason: `the quote ${quote.sign} is not closed`, at: quote.at };
  if (word !== undefined) words.push({ text: word, at: start + 1 });
  return checkFirst(words) ?? checkHome(words, line) ?? { kind: "words", words: words.map(({ text }) => text) };
}

/**
 * Whether a backslash escapes the next character. Inside double quotes, a backslash escapes only `$`, backquotes,
 * double quotes and backslashes.
 */
function isEscape(next: string, quoted: boolean): boolean {
  return !quoted || '"\\$`'.includes(next);
}

function checkFirst([first]: readonly Word[]): ShellLine | undefined {
  const command = first?.text ?? "";
  if (command === "") return { kind: "refused", reason: "the command line has no command", at: 1 };
  if (/^\w+=/.test(command))
    return { kind: "refused", reason: `"${command}" sets a variable; write an entry with "env" instead`, at: 1 };
  return undefined;
}

/**
 * Refuses a quoted `~` at the start of a word. A shell takes it literally, but in settings it means the home folder.
 */
function checkHome(words: readonly Word[], line: string): ShellLine | undefined {
  const quoted = words.find(({ text, at }) => /^~(?:$|[/\\])/.test(text) && !/^~(?:$|[/ \t])/.test(line.slice(at - 1)));
  if (quoted === undefined) return undefined;
  const reason = `"${quoted.text}" is quoted, but Fairlead replaces "~" by the home folder also in quotes; write "./${quoted.text}" if "~" is part of the name`;
  return { kind: "refused", reason, at: quoted.at };
}
