/** Makes whole lines of text that comes in pieces. */

export interface TextLines {
  push(text: string): void;
  /** Hands over what is left without a line end. */
  end(): void;
}

/** Of a line over the limit the beginning is handed over, and the rest is dropped. */
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
