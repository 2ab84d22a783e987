/** A line as bash hands it to a completion function: raw, quotes and all. Nothing in it is ever expanded or run. Pure. */

export interface BashLine {
  /** The finished words after the command's own name, without their quotes. */
  readonly words: readonly string[];
  /** The word at the cursor, as far as it goes. */
  readonly current: string;
  /** It names a file for `<` or `>`. */
  readonly isRedirected: boolean;
  /** The end of the line that bash replaces by a completion: it knows no words, only what lies between certain characters. */
  readonly segment: string;
  readonly quote: Quote;
}

/** `\`: the line ends in the middle of an escape. */
type Quote = "" | "'" | '"' | "\\";

/** `breaks`: bash's `COMP_WORDBREAKS`. `line` ends at the cursor. */
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
    // Two of these characters are left in the segment: for bash they may begin the name of a host, or of a variable.
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
 * The whole word `value` as the text that bash is to put in the place of the segment: what was typed stays as it was
 * typed, and what is new is quoted. Undefined if the word did not begin like that.
 */
export function bashReply(value: string, { current, segment, quote }: BashLine): string | undefined {
  if (quote === "\\" || !value.startsWith(current)) return undefined;
  const reply = `${segment}${quoted(value.slice(current.length), quote)}`;
  // Bash closes the quotes, unless it believes them closed by the last character.
  return quote !== "" && reply.endsWith(quote) ? `${reply}${quote}` : reply;
}

function quoted(text: string, quote: "" | "'" | '"'): string {
  switch (quote) {
    case "":
      return text.replaceAll(/[^\w@%+=:,./\u0080-\uffff-]/g, "\\$&");
    case "'":
      return text.replaceAll("'", String.raw`'\''`);
    case '"':
      // A backslash would not vanish before an exclamation mark, which recalls a line of the history.
      return text.replaceAll(/["$`\\]/g, "\\$&").replaceAll("!", `"'!'"`);
  }
}
