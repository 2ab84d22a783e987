/**
 * Makes foreign text safe to print: the printed text cannot move the cursor, hide text or reverse the reading
 * direction.
 */

import { writeJson } from "./deep-json.ts";
import { disruptive, exoticSpaces, invisible } from "./unseen.ts";

declare const brand: unique symbol;
/**
 * Text that is safe to print. Only functions in `text/` create values of this type, and output functions accept no
 * other text.
 */
export type SafeText = string & { readonly [brand]: true };

/**
 * Matches any character except printable ASCII, tabs and line breaks. Most texts contain none, so this quick test saves
 * time.
 */
const unusual = /[^\n\t -~]/;
const unusualOnALine = /[^ -~]| {241}/;
/** Matches more than eight combining marks on one letter. So many marks would cover the lines above and below. */
const markFlood = (): RegExp => /(\p{M}{8})(\p{M}+)/gu;
/** Matches a combining mark without a letter, which would change the character printed before it. */
const looseMark = (): RegExp => /(^|[\n\t])(?=\p{M})/gu;
/** Matches more than 240 blanks or equal symbols (three rows), which would push the following text out of view. */
const blankRun = /( |␊|␉|⟨U\+[0-9A-F]+⟩)\1{240,}/g;

function picture(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x09 || code === 0x0a) return character;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/**
 * Makes foreign text safe to read: keeps newlines and tabs, replaces control characters by visible symbols, removes
 * invisible characters.
 */
export function toSafeText(text: string): SafeText {
  if (!unusual.test(text)) return text as SafeText;
  return tame(text.replaceAll("\r\n", "\n").replaceAll(invisible(), "").replaceAll(disruptive(), picture)) as SafeText;
}

/** Like `toSafeText`, but on one line: for names, paths and table cells. */
export function toSafeLine(text: string): SafeText {
  return oneLine(toSafeText(text));
}

/**
 * Returns foreign text on one line, for a person who must decide about it. Hides nothing: shows invisible characters
 * and look-alikes as code points, and long runs of blanks or combining marks as a count.
 */
export function toVisibleLine(text: string): SafeText {
  if (!unusualOnALine.test(text)) return text as SafeText;
  const visible = markLookalikes(text, picture)
    .replaceAll(invisible(), picture)
    .replaceAll(exoticSpaces(), picture)
    .replaceAll(disruptive(), picture);
  return oneLine(tame(visible)).replaceAll(
    blankRun,
    (run, blank: string) => `${blank}⟨×${run.length / blank.length}⟩`,
  ) as SafeText;
}

function tame(text: string): string {
  return text
    .replaceAll(looseMark(), "$1◌")
    .replaceAll(markFlood(), (_, kept: string, rest: string) => `${kept}⟨+${Array.from(rest).length} marks⟩`);
}

function oneLine(text: string): SafeText {
  return text.replaceAll("\n", "␊").replaceAll("\t", "␉") as SafeText;
}

/** Joins Fairlead's own words with safe parts: `` safe`"${toSafeLine(name)}" is unknown` ``. */
export function safe(words: TemplateStringsArray, ...parts: readonly (SafeText | number)[]): SafeText {
  return words.reduce((text, word, index) => `${text}${parts[index - 1]}${word}`) as SafeText;
}

/** Joins safe texts with a safe separator. Default: a line break. */
export function joinSafe(parts: readonly SafeText[], separator: SafeText = "\n" as SafeText): SafeText {
  return parts.join(separator) as SafeText;
}

export function splitSafe(text: SafeText, separator = "\n"): readonly SafeText[] {
  return text.split(separator) as SafeText[];
}

/** Returns a part of a safe text. Takes the same positions as `String.slice`. */
export function sliceSafe(text: SafeText, from: number, to?: number): SafeText {
  return text.slice(from, to) as SafeText;
}

/** Adds spaces at the end of the text until it has `columns` UTF-16 units. */
export function padSafe(text: SafeText, columns: number): SafeText {
  return text.padEnd(columns) as SafeText;
}

/** Repeats the text. A count below zero gives an empty text. */
export function repeatSafe(text: SafeText, count: number): SafeText {
  return text.repeat(Math.max(0, count)) as SafeText;
}

export function replaceSafe(text: SafeText, pattern: RegExp, replace: (match: string) => SafeText): SafeText {
  return text.replaceAll(pattern, replace) as SafeText;
}

/**
 * Returns JSON that is safe to print. Escapes control and invisible characters, and replaces parts that are nested too
 * deeply by a description.
 */
export function toSafeJson(value: unknown, indent = 2): SafeText {
  const escaped = (character: string): string =>
    character === "\n"
      ? character
      : [...Array(character.length).keys()].map((at) => unicodeEscape(character, at)).join("");
  const json = writeJson(value, indent);
  if (!unusual.test(json)) return json as SafeText;
  return json.replaceAll(disruptive(), escaped).replaceAll(invisible(), escaped) as SafeText;
}

function unicodeEscape(text: string, at: number): string {
  return `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`;
}

/** Matches a word as a reader sees it, including invisible characters inside the word. */
const words = (): RegExp => /[\p{L}\p{M}\p{N}\p{Cf}_]+/gu;
const latin = (): RegExp => /\p{Script=Latin}/u;
/**
 * Matches a letter of a script other than Latin. Leaves out Chinese, Japanese and Korean scripts: people often mix them
 * with Latin, and their letters do not look like Latin letters.
 */
const foreign = (): RegExp =>
  /(?![\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Hangul}])\p{L}/gu;

/** Marks non-Latin letters inside a Latin word, because they may look like Latin letters. */
function markLookalikes(text: string, toMarked: (character: string) => string): string {
  return text.replaceAll(words(), (word) => (latin().test(word) ? word.replaceAll(foreign(), toMarked) : word));
}
