/** Lines of styled, safe text, and functions that clip and wrap them. Pure functions. */

import { type SafeText, safe, sliceSafe } from "@fairlead/core/text/safe-text";

export type Colour = "red" | "green" | "yellow" | "blue" | "magenta" | "cyan";

/** The style of a span. The text must be understandable without its colour. */
export interface SpanStyle {
  readonly colour?: Colour;
  readonly isBold?: boolean;
  readonly isDim?: boolean;
  readonly isItalic?: boolean;
  readonly isUnderlined?: boolean;
  readonly isInverse?: boolean;
}

export interface Span extends SpanStyle {
  readonly text: SafeText;
}

export type Line = readonly Span[];

export function span(text: SafeText, style: SpanStyle = {}): Span {
  return { ...style, text };
}

const plain = /^[\x20-\x7e]*$/;
/** Matches the combining marks that every terminal draws on the preceding letter. */
const mark = /[\u0300-\u036f]/;
/** Matches characters that take two columns: East Asian letters and emoji. */
const wide =
  /[\p{Extended_Pictographic}\p{Emoji_Presentation}\p{Emoji_Modifier}\p{Regional_Indicator}\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** Counts the columns of a text. If the width is uncertain, counts too many, so that no line is longer than a row. */
export function columns(text: string): number {
  if (plain.test(text)) return text.length;
  let sum = 0;
  for (const character of text) sum += characterColumns(character);
  return sum;
}

function characterColumns(character: string): number {
  if (character <= "~") return 1;
  if (wide.test(character)) return 2;
  return mark.test(character) ? 0 : 1;
}

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

/** Cuts a line to the width, with `…` at the end if text is left out. */
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

/** Breaks a line exactly at the width. No character is left out. */
export function breakLine(line: Line, width: number): readonly Line[] {
  return rowsOf(
    line.map((each) => ({ spans: [each], isBlank: false })),
    width,
    true,
  );
}

/** Wraps a line between words. Spaces at a break are left out, and a word longer than a row is broken. */
export function wrapLine(line: Line, width: number): readonly Line[] {
  return rowsOf(wordsOf(line), width, false);
}

interface Word {
  /** The spans of a word: the style may change within the word. */
  readonly spans: Span[];
  readonly isBlank: boolean;
}

function wordsOf(line: Line): readonly Word[] {
  const words: Word[] = [];
  for (const each of line)
    for (const { 0: text, index } of each.text.matchAll(/ +|[^ ]+/g)) {
      const isBlank = text.startsWith(" ");
      const piece = part(each, index, index + text.length);
      const last = words.at(-1);
      if (last !== undefined && last.isBlank === isBlank) last.spans.push(piece);
      else words.push({ spans: [piece], isBlank });
    }
  return words;
}

function rowsOf(words: readonly Word[], given: number, isExact: boolean): readonly Line[] {
  // The width is at least 2, because the widest character takes two columns.
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
      // Spaces at a break are dropped, because they would indent the next row.
      if (isBlank && used > 0) {
        breakRow();
        continue;
      }
      if (used > 0 && size <= width) breakRow();
    }
    if (isBlank && used === 0 && rows.length > 1) continue;
    for (const each of spans) add(each);
  }
  return rows;
}
