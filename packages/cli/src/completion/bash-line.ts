/**
 * Parses the raw command line that bash passes to a completion function. Never expands or runs any part of it. Pure
 * functions.
 */

/** The parsed command line up to the cursor. */
export interface BashLine {
  /** The complete words after the command name, without quotes. */
  readonly words: readonly string[];
  /** The current word, up to the cursor. */
  readonly current: string;
  /** Whether the current word is the file name of a redirection (`<` or `>`). */
  readonly isRedirected: boolean;
  /** The text that bash replaces by the completion: after the last `COMP_WORDBREAKS` character or an open quote. */
  readonly segment: string;
  readonly quote: Quote;
}

/** The quote that is still open at the cursor. `\`: the line ends with a backslash. */
type Quote = "" | "'" | '"' | "\\";

/** Parses the line up to the cursor. `breaks`: bash's `COMP_WORDBREAKS`. */
export function readBashLine(line: string, breaks: string): BashLine {
  const words: string[] = [];
  let quote: Quote = "";
  let current: string | undefined;
  let isRedirected = false;
  let segmentFrom = 0;
  let quotedFrom = 0;

  function endWord(): void {
    if (current !== undefined && !isRedirected) words.push(current);
    if (current !== undefined) isRedirected = false;
    current = undefined;
  }

  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (quote === "'" || quote === '"') {
      if (character === quote) quote = "";
      else if (quote === '"' && character === "\\" && at + 1 === line.length) quote = "\\";
      else if (quote === '"' && character === "\\" && /["$`\\]/.test(line.charAt(at + 1))) {
        at += 1;
        current += line.charAt(at);
      } else current += character;
      continue;
    }
    if (character === "\\") {
      at += 1;
      if (at === line.length) quote = "\\";
      current = `${current ?? ""}${line.charAt(at)}`;
      continue;
    }
    if (character === "'" || character === '"') {
      quote = character;
      quotedFrom = at + 1;
      current ??= "";
      continue;
    }
    // bash replaces the text after the last break character. If that character is "@" or "$", bash replaces it too.
    if (breaks.includes(character)) segmentFrom = character === "@" || character === "$" ? at : at + 1;
    if (/[\s;|&()]/.test(character)) endWord();
    else if (character === "<" || character === ">") {
      // The number in `2>` is part of the redirection.
      if (current !== undefined && /^\d+$/.test(current)) current = undefined;
      endWord();
      isRedirected = true;
    } else current = `${current ?? ""}${character}`;
  }
  const isQuoted = quote === "'" || quote === '"';
  return {
    words: words.slice(1),
    current: current ?? "",
    isRedirected,
    segment: line.slice(isQuoted ? quotedFrom : segmentFrom),
    quote,
  };
}

/**
 * Returns the text that bash inserts in place of `segment`: `segment` itself, then the quoted rest of `value`.
 * Undefined if `value` does not start with the typed word.
 */
export function bashReply(value: string, { current, segment, quote }: BashLine): string | undefined {
  if (quote === "\\" || !value.startsWith(current)) return undefined;
  const reply = `${segment}${quoted(value.slice(current.length), quote)}`;
  // If the reply ends with a quote character, bash adds no closing quote, so Fairlead adds it.
  return quote !== "" && reply.endsWith(quote) ? `${reply}${quote}` : reply;
}

function quoted(text: string, quote: "" | "'" | '"'): string {
  switch (quote) {
    case "":
      return text.replaceAll(/[^\w@%+=:,./\u0080-\uffff-]/g, "\\$&");
    case "'":
      return text.replaceAll("'", String.raw`'\''`);
    case '"':
      // In double quotes, "!" expands the shell history, and "\!" keeps its backslash. So "!" goes into single
      // quotes.
      return text.replaceAll(/["$`\\]/g, "\\$&").replaceAll("!", `"'!'"`);
  }
}
