/** Finds `name: value` and `NAME=value` pairs in a text, such as an argument that contains JSON or shell code. */

/** A value with its name and its position in the text. */
export interface ValueInText {
  readonly name: string;
  /** The value as written, with escapes and without quotes. */
  readonly value: string;
  readonly start: number;
}

/**
 * Matches `"name": 12`, and `"name": "value"` up to the value, also with single or escaped quotes. The lookahead matches
 * the whole name at once. Without it, the search in a long word would be slow.
 */
const member = /(?=([\w.-]{1,80}))\1(?:\\*["'])?\s{0,9}:\s{0,9}(?:(\\*)(["'])|(-?\d[\d.]{0,40}))/g;
/** Matches `NAME=value` and `--name="value"`. */
const assignment = /(?<![\w.-])([\w.-]{1,80})=(["']?)([^\s"';|&]+)\2/g;

/** The values in `text` whose names `isTelling` accepts, in order. A value inside an earlier value is left out. */
export function namedValuesIn(text: string, isTelling: (name: string) => boolean): readonly ValueInText[] {
  const found = [
    ...membersIn(text),
    ...[...text.matchAll(assignment)].map(({ 0: all, 1: name = "", 2: quote = "", 3: value = "", index }) => {
      return { name, value, start: index + all.length - quote.length - value.length };
    }),
  ];
  const telling = found.filter(({ name, value }) => value !== "" && isTelling(name.replace(/^-+/, "")));
  let end = 0;
  return telling
    .sort((a, b) => a.start - b.start)
    .filter(({ start, value }) => {
      const isFree = start >= end;
      if (isFree) end = start + value.length;
      return isFree;
    });
}

function membersIn(text: string): readonly ValueInText[] {
  const found: ValueInText[] = [];
  const search = new RegExp(member);
  for (let match = search.exec(text); match !== null; match = search.exec(text)) {
    const [, name = "", escapes = "", quote, number = ""] = match;
    const start = search.lastIndex - number.length;
    const end = quote === undefined ? search.lastIndex : endOfQuoted(text, { start, quote, escapes: escapes.length });
    // The search goes on inside a quoted value, because the value may be JSON with members of its own.
    if (end !== undefined) found.push({ name, value: text.slice(start, end), start });
  }
  return found;
}

/**
 * Returns the end of a quoted value. If n backslashes escape the opening quote, n backslashes escape the closing quote.
 * In front of them, the value may end with backslashes of its own, always a multiple of 2(n + 1). A quote with another
 * number of backslashes belongs to the value.
 */
function endOfQuoted(text: string, { start, quote, escapes }: Quoted): number | undefined {
  for (let at = text.indexOf(quote, start); at !== -1; at = text.indexOf(quote, at + 1)) {
    let first = at;
    while (first > start && text[first - 1] === "\\") first -= 1;
    if ((at - first) % (2 * (escapes + 1)) === escapes) return at - escapes;
  }
  return undefined;
}

/** A quoted value: where it starts, its quote, and how many backslashes escape the quote. */
interface Quoted {
  readonly start: number;
  readonly quote: string;
  readonly escapes: number;
}

/** Returns `text` with `replacement(value)` in place of each value. */
export function replaceValues(
  text: string,
  values: readonly ValueInText[],
  replacement: (value: string) => string,
): string {
  let shown = "";
  let at = 0;
  for (const { value, start } of values) {
    shown += text.slice(at, start) + replacement(value);
    at = start + value.length;
  }
  return shown + text.slice(at);
}
