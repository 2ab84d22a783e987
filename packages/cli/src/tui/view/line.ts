/** Lines of styled text that is safe to print, and functions that cut and wrap them. */

import { type SafeText, safe, sliceSafe } from "@fairlead/core/text/safe-text";

/** The colours that a text can have. */
export type Colour = "red" | "green" | "yellow" | "blue" | "magenta" | "cyan";

/** The style of a piece of text. The text must make sense without colours too. */
export interface SpanStyle {
  readonly colour?: Colour;
  readonly isBold?: boolean;
  readonly isDim?: boolean;
  readonly isItalic?: boolean;
  readonly isUnderlined?: boolean;
  readonly isInverse?: boolean;
}

/** A piece of text with one style. */
export interface Span extends SpanStyle {
  readonly text: SafeText;
}

/** One row of text, as pieces with different styles. */
export type Line = readonly Span[];

/** Creates a piece of text. Without `style`, it has no style. */
export function span(text: SafeText, style: SpanStyle = {}): Span {
  return { ...style, text };
}

const plain = /^[\x20-\x7e]*$/;
/** Matches combining marks (accents) that every terminal draws over the letter before them. */
const combining = /[\u0300-\u036f]/;
/** Matches characters that take two columns: East Asian letters and emoji. */
const wide =
  /[\p{Extended_Pictographic}\p{Emoji_Presentation}\p{Emoji_Modifier}\p{Regional_Indicator}\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/**
 * Returns how many screen columns a text takes. If that is uncertain, returns the higher number, so that lines are
 * never too long.
 */
export function columns(text: string): number {
  if (plain.test(text)) return text.length;
  let sum = 0;
  for (const character of text) sum += characterColumns(character);
  return sum;
}

function characterColumns(character: string): number {
  if (character <= "~") return 1;
  if (wide.test(character)) return 2;
  return combining.test(character) ? 0 : 1;
}

/** Returns how many screen columns a line takes. */
export function lineColumns(line: Line): number {
  return line.reduce((sum, { text }) => sum + columns(text), 0);
}

/** Returns how many code units of the text fit into `room` columns. */
function fitting(text: string, room: number): number {
  if (plain.test(text)) return Math.min(text.length, room);
  let [used, at] = [0, 0];
  for (const character of text) {
    used += characterColumns(character);
    if (used > room) break;
    at += character.length;
  }
  return at;
}

function part({ text, ...style }: Span, from: number, to?: number): Span {
  return { ...style, text: sliceSafe(text, from, to) };
}

/** Cuts a line to `width` columns. A cut line ends with `…`. */
export function clipLine(line: Line, width: number): Line {
  if (lineColumns(line) <= width) return line;
  const kept: Span[] = [];
  let room = Math.max(0, width - 1);
  for (const each of line) {
    const end = fitting(each.text, room);
    kept.push(part(each, 0, end));
    room -= columns(each.text.slice(0, end));
    if (end < each.text.length) break;
  }
  return [...kept, { ...kept.at(-1), text: width > 0 ? safe`…` : safe`` }];
}

/** Breaks a line at `width` columns, even within a word. Keeps every character. */
export function breakLine(line: Line, width: number): readonly Line[] {
  return rowsOf(
    line.map((each) => ({ spans: [each], isBlank: false })),
    width,
    true,
  );
}

/**
 * Breaks a line between words, for text that the user must judge: only the one space at a break is left out. Breaks a
 * word that is longer than a row.
 */
export function wrapWhole(line: Line, width: number): readonly Line[] {
  return rowsOf(wordsOf(line), width, false, true);
}

/** Wraps a line between words. Drops the spaces at a break. Breaks a word that is longer than a row. */
export function wrapLine(line: Line, width: number): readonly Line[] {
  return rowsOf(wordsOf(line), width, false);
}

interface Word {
  /** A word may have several styles. */
  readonly spans: Span[];
  readonly isBlank: boolean;
}

function wordsOf(line: Line): readonly Word[] {
  const words: Word[] = [];
  for (const each of line)
    for (const { 0: text, index } of each.text.matchAll(/ +|[^ ]+/g)) {
      // The cursor may be on a space. It must not be left out at a break.
      const isBlank = text.startsWith(" ") && each.isInverse !== true;
      const piece = part(each, index, index + text.length);
      const last = words.at(-1);
      if (last !== undefined && last.isBlank === isBlank) last.spans.push(piece);
      else words.push({ spans: [piece], isBlank });
    }
  return words;
}

function rowsOf(words: readonly Word[], given: number, isExact: boolean, keepsBlanks = false): readonly Line[] {
  // A wide character, such as an emoji, needs two columns.
  const width = Math.max(2, given);
  const rows: Span[][] = [[]];
  let used = 0;

  function breakRow(): void {
    rows.push([]);
    used = 0;
  }

  function add(each: Span): void {
    const { text } = each;
    let [from, at] = [0, 0];
    for (const character of text) {
      const size = characterColumns(character);
      if (used + size > width) {
        if (at > from) rows.at(-1)?.push(part(each, from, at));
        from = at;
        breakRow();
      }
      used += size;
      at += character.length;
    }
    if (at > from) rows.at(-1)?.push(part(each, from, at));
  }

  for (const { spans, isBlank } of words) {
    const size = isExact ? 0 : lineColumns(spans);
    if (used + size > width && !isExact) {
      // Without this, the next row would begin with a space.
      if (isBlank && used > 0 && !(keepsBlanks && size > 1)) {
        breakRow();
        continue;
      }
      if (used > 0 && size <= width && !isBlank) breakRow();
    }
    if (isBlank && used === 0 && rows.length > 1 && !keepsBlanks) continue;
    for (const each of spans) add(each);
  }
  return rows;
}
