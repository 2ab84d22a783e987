/**
 * Splits a text that the user typed into lines. A line break inside quotes, or inside the parentheses of a call, does
 * not end a line. Pure.
 */

/** The lines of a typed text, and the quote that is still open. */
export interface TypedLines {
  /** The lines, without blanks at their start and end. Empty lines are left out. */
  readonly lines: readonly string[];
  /** The index in the text at which the last line starts. */
  readonly lastStart: number;
  /** The quote that has no closing quote, if any. Its line continues to the end of the text. */
  readonly open?: OpenQuote;
}

/** A quote without a closing quote. */
export interface OpenQuote {
  readonly quote: '"' | "'";
  /** The index of the quote in the text. */
  readonly at: number;
}

/** Matches the start of a call that is written like code: `server.tool(`. `call` or `form` may come before it. */
const expression = /^\s*(?:(?:fairlead\s+|\/)?(?:call|form)\s+)?[^\s=("']+\(/;

/** Splits a text into lines. Quotes have the same meaning as in `splitWords`, which splits a line into words. */
export function splitTypedLines(text: string): TypedLines {
  const lines: string[] = [];
  for (let start = 0; ; ) {
    const { end, open } = readLine(text, start);
    const line = text.slice(start, end).trim();
    if (line !== "") lines.push(line);
    if (end >= text.length) return { lines, lastStart: start, open };
    start = end + 1;
  }
}

function readLine(text: string, start: number): { readonly end: number; readonly open?: OpenQuote } {
  // Tests only the start of the line, because a line may be very long.
  const isExpression = expression.test(text.slice(start, start + 400));
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === "\n" && depth <= 0) return { end: at };
    if (isExpression && "([{".includes(character)) depth += 1;
    else if (isExpression && ")]}".includes(character)) depth -= 1;
    else if ((character === '"' || character === "'") && (isExpression ? depth > 0 : mayOpen(text, start, at))) {
      const close = closingQuote(text, at);
      if (close === undefined) return { end: text.length, open: { quote: character, at } };
      at = close;
    }
  }
  return { end: text.length };
}

/** Whether a quote opens a quoted text. Inside a word, and after a backslash, it does not. */
function mayOpen(text: string, start: number, at: number): boolean {
  return at === start || /[\s=]/.test(text.charAt(at - 1));
}

/** The position of the closing quote. Undefined if there is none. */
export function closingQuote(text: string, open: number): number | undefined {
  const quote = text.charAt(open);
  for (let at = open + 1; at < text.length; at += 1) {
    if (text.charAt(at) === "\\") at += 1;
    else if (text.charAt(at) === quote) return at;
  }
  return undefined;
}
