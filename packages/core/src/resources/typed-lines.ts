/** Splits what the user typed into lines. A line break inside quotes, or inside the parentheses of a call, ends no line. Pure. */

export interface TypedLines {
  /** The lines, without empty lines and surrounding blanks. */
  readonly lines: readonly string[];
  /** Index where the last line starts in the text. */
  readonly lastStart: number;
  /** The quote that is not closed. The line in which it opens reaches to the end of the text. */
  readonly open?: OpenQuote;
}

export interface OpenQuote {
  readonly quote: '"' | "'";
  /** Index of the quote in the text. */
  readonly at: number;
}

/** The start of a call as in code, `server.tool(`, perhaps after the word `call`. */
const expression = /^\s*(?:(?:fairlead\s+|\/)?(?:call|form)\s+)?[^\s=("']+\(/;

/** Splits a text into lines, with the same quoting rules by which `splitWords` splits a line into words. */
export function splitTypedLines(text: string): TypedLines {
  const lines: string[] = [];
  let start = 0;
  while (start <= text.length) {
    const { end, open } = readLine(text, start);
    const line = text.slice(start, end).trim();
    if (line !== "") lines.push(line);
    if (end >= text.length) return { lines, lastStart: start, ...(open && { open }) };
    start = end + 1;
  }
  return { lines, lastStart: start };
}

interface ReadLine {
  readonly end: number;
  readonly open?: OpenQuote;
}

function readLine(text: string, start: number): ReadLine {
  // A typed line begins with its target, so the first characters show its form.
  const isExpression = expression.test(text.slice(start, start + 400));
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === "\n" && depth <= 0) return { end: at };
    if (isExpression && "([{".includes(character)) depth += 1;
    else if (isExpression && ")]}".includes(character)) depth -= 1;
    else if (character === "\\" && !isExpression && text.charAt(at + 1) !== "\n") at += 1;
    else if ((character === '"' || character === "'") && (isExpression ? depth > 0 : mayOpen(text, start, at))) {
      const close = closingQuote(text, at);
      if (close === undefined) return { end: text.length, open: { quote: character, at } };
      at = close;
    }
  }
  return { end: text.length };
}

/** A quote inside a word is an apostrophe. */
function mayOpen(text: string, start: number, at: number): boolean {
  return at === start || /[\s=]/.test(text.charAt(at - 1));
}

/** The position of the closing quote; undefined if there is none. */
export function closingQuote(text: string, open: number): number | undefined {
  const quote = text.charAt(open);
  for (let at = open + 1; at < text.length; at += 1) {
    if (text.charAt(at) === "\\") at += 1;
    else if (text.charAt(at) === quote) return at;
  }
  return undefined;
}
