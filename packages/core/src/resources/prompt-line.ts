/** Splits the text after a `/` into words. Understands quotes and escapes, and never fails. Pure. */

/** One word of the line. */
export interface Word {
  readonly text: string;
  /** The length of its unquoted beginning: only there can `--` and `=` have a meaning. */
  readonly plain: number;
}

const quotes = "\"'";

/** Splits a line into words. */
export function splitWords(line: string): readonly Word[] {
  const words: Word[] = [];
  let at = 0;
  while (at < line.length) {
    if (/\s/.test(line.charAt(at))) at += 1;
    else {
      const { word, end } = readWord(line, at);
      words.push(word);
      at = end;
    }
  }
  return words;
}

function readWord(line: string, start: number): { readonly word: Word; readonly end: number } {
  let text = "";
  let plain: number | undefined;
  let at = start;
  while (at < line.length && !/\s/.test(line.charAt(at))) {
    const character = line.charAt(at);
    // A quote inside a word is an apostrophe.
    const mayQuote = quotes.includes(character) && (text === "" || text.endsWith("="));
    const close = mayQuote ? closingQuote(line, at) : undefined;
    if (close !== undefined) {
      plain ??= text.length;
      text += withoutEscapes(line.slice(at + 1, close), character);
      at = close + 1;
    } else if (character === "\\" && /^[\s"'\\=-]$/.test(line.charAt(at + 1))) {
      plain ??= text.length;
      text += line.charAt(at + 1);
      at += 2;
    } else {
      text += character;
      at += 1;
    }
  }
  return { word: { text, plain: plain ?? text.length }, end: at };
}

/** The position of the closing quote; undefined if there is none. */
function closingQuote(line: string, open: number): number | undefined {
  const quote = line.charAt(open);
  for (let at = open + 1; at < line.length; at += 1) {
    if (line.charAt(at) === "\\") at += 1;
    else if (line.charAt(at) === quote) return at;
  }
  return undefined;
}

function withoutEscapes(text: string, quote: string): string {
  return text.replaceAll(/\\(["'\\])/g, (whole, escaped: string) =>
    escaped === quote || escaped === "\\" ? escaped : whole,
  );
}
