/** Splits text that arrives in pieces into lines. */

/** Collects pieces of text. */
export interface TextLines {
  push(text: string): void;
  /** Passes on the last line if it has no line end. */
  end(): void;
}

/** @param limit Most characters of a line; the rest of a longer line is dropped. */
export function createTextLines(limit: number, line: (text: string) => void): TextLines {
  let start = "";
  let isDropping = false;

  function take(piece: string): void {
    if (isDropping) return;
    start += piece;
    if (start.length <= limit) return;
    isDropping = true;
    line(start.slice(0, limit));
    start = "";
  }

  return {
    push(text) {
      const [first = "", ...others] = text.split("\n");
      take(first);
      for (const piece of others) {
        if (!isDropping) line(start.replace(/\r$/, ""));
        isDropping = false;
        start = "";
        take(piece);
      }
    },
    end() {
      if (start !== "") line(start);
      start = "";
    },
  };
}
