/**
 * Reads many items of a long JSON list with one `JSON.parse`. That is four times faster than reading value by value.
 */

/** `JSON.parse` gets at most this many characters at once, which takes a few milliseconds. */
const mostCharacters = 128 * 1024;
/** If the next items together have fewer characters, they are read one by one. */
const fewestCharacters = 4 * 1024;
/** An item is recognised by this many characters at its beginning. */
const beginLength = 8;
/** After this many wrong guesses, the items are read one by one. A hostile server could make every guess wrong. */
const mostFailures = 8;

const openObject = 0x7b;

/** `end` is the position after the comma that follows the items. */
interface ItemRun {
  readonly items: readonly unknown[];
  readonly end: number;
}

/** Reads several items of a list at once. */
export interface ItemReader {
  /**
   * Reads the next items. `from` is the position after a comma or `[`. `begin` is where the first item begins, after
   * white space. Returns undefined if the items must be read one by one.
   */
  readonly read: (from: number, begin: number) => ItemRun | undefined;
}

/** Creates a reader for the lists in one JSON text. */
export function createItemReader(text: string): ItemReader {
  let failures = 0;

  /**
   * Guesses where the last item within `mostCharacters` ends. If the first item begins with `{"name":`, the guess is
   * the last `,{"name":`. If the guess is wrong, `JSON.parse` fails.
   */
  function guess(from: number, begin: number): ItemRun | undefined {
    const separator = `,${text.slice(from, begin + beginLength)}`;
    const length = text.slice(from, from + mostCharacters).lastIndexOf(separator);
    if (length < fewestCharacters) return undefined;
    const items = parseItems(text.slice(from, from + length));
    return items && { items, end: from + length + 1 };
  }

  return {
    read(from, begin) {
      if (text.charCodeAt(begin) !== openObject || failures === mostFailures || text.length - from < fewestCharacters)
        return undefined;
      const run = guess(from, begin);
      if (run === undefined) failures += 1;
      return run;
    },
  };
}

function parseItems(text: string): readonly unknown[] | undefined {
  try {
    return JSON.parse(`[${text}]`) as readonly unknown[];
  } catch {
    return undefined;
  }
}
