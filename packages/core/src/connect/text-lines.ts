/** Splits text that arrives in pieces into lines. Lines above a rate limit are counted and dropped. */

/** Splits text into lines. `push` takes the pieces of the text as they arrive. */
export interface TextLines {
  push(text: string): void;
  /**
   * Call this at the end of the text. Passes on the end of the dropped lines, and then the last line, even without a
   * line break.
   */
  end(): void;
}

export interface TextLineOptions {
  /** The longest line in characters. The rest of a longer line is dropped. */
  readonly limit: number;
  /** The rate limit; if absent, all lines are passed on. */
  readonly rate?: RateLimit;
  /** Receives the complete lines of each piece of text. */
  readonly lines: (lines: readonly string[]) => void;
}

/** How many characters from the end of the dropped lines are kept. They often say why a program ended. */
const keptCharacters = 4000;
const newline = 0x0a;

/** Creates the splitter. Dropped lines are reported as one line with their number. */
export function createTextLines({ limit, rate, lines }: TextLineOptions): TextLines {
  let start = "";
  let isCut = false;
  let dropped = 0;
  let lastDropped = "";

  function keep(piece: string): void {
    if (isCut || piece === "") return;
    start += piece;
    if (start.length <= limit) return;
    isCut = true;
    start = start.slice(0, limit);
  }

  function finish(): string {
    const line = isCut ? start : start.replace(/\r$/, "");
    start = "";
    isCut = false;
    return line;
  }

  function drop(text: string, count: number): void {
    dropped += count;
    lastDropped = (lastDropped + text.slice(-keptCharacters)).slice(-keptCharacters);
  }

  function report(): readonly string[] {
    const count = dropped;
    dropped = 0;
    return count === 0 ? [] : [`(${count.toLocaleString("en")} lines dropped: the server wrote too fast)`];
  }

  return {
    push(text) {
      const last = text.lastIndexOf("\n");
      if (last === -1) return keep(text);
      const count = countLines(text);
      const allowed = rate?.take(count) ?? count;
      const found: string[] = allowed > 0 ? [...report()] : [];
      let from = 0;
      for (let left = allowed; left > 0; left -= 1) {
        const end = text.indexOf("\n", from);
        keep(text.slice(from, end));
        found.push(finish());
        from = end + 1;
      }
      if (allowed === count) lastDropped = "";
      else {
        drop(start + text.slice(from, last + 1), count - allowed);
        finish();
      }
      if (found.length > 0) lines(found);
      keep(text.slice(last + 1));
    },
    end() {
      const late = dropped === 0 ? [] : lastDropped.split("\n").slice(0, -1);
      dropped = Math.max(0, dropped - late.length);
      const found = [...report(), ...late];
      if (start !== "") found.push(finish());
      lastDropped = "";
      if (found.length > 0) lines(found);
    },
  };
}

/** Counts the lines with a loop over the characters, because `split` would create a string for each line. */
function countLines(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) === newline) count += 1;
  return count;
}

export interface RateLimit {
  /** Returns how many of `wanted` items, such as log lines, may pass now, and counts them as passed. */
  take(wanted: number): number;
}

/** Creates a limit that lets `burst` items pass at once and then `perSecond` items a second. */
export function createRateLimit(perSecond: number, burst: number, now: () => number): RateLimit {
  let left = burst;
  let at = now();
  return {
    take(wanted) {
      const time = now();
      left = Math.min(burst, left + ((time - at) * perSecond) / 1000);
      at = time;
      const taken = Math.min(wanted, Math.floor(left));
      left -= taken;
      return taken;
    },
  };
}
