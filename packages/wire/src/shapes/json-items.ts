/**
 * Reads many items of a long JSON list with one `JSON.parse`, which takes a quarter of the time of reading them value
 * by value.
 */

/** Maximum number of characters that are read at once. `JSON.parse` takes a few milliseconds for this many. */
const mostCharacters = 128 * 1024;
/** Items that have fewer characters than this together are read one by one. */
const fewestCharacters = 4 * 1024;
/** How many characters at the beginning of two items are compared. */
const beginLength = 8;
/**
 * After this many wrong guesses, the items are read one by one, because a hostile text could make every guess wrong.
 */
const mostFailures = 8;

const openObject = 0x7b;

/** Items of a list, and the position after the comma that follows them. */
interface ItemRun {
  readonly items: readonly unknown[];
  readonly end: number;
}

/** Reads several items of a list at once. */
export interface ItemReader {
  /**
   * Reads the next items of a list. `from` is the position after a comma or after the opening bracket. `begin` is the
   * position of the first item, after white space. Returns undefined if the items must be read one by one.
   */
  readonly read: (from: number, begin: number) => ItemRun | undefined;
}

export function createItemReader(text: string): ItemReader {
  let failures = 0;

  /**
   * Guesses where the last complete item of the next `mostCharacters` characters ends. For example, if the first item
   * begins with `{"name":`, the guess is the last `,{"name":`. After a wrong guess, `JSON.parse` fails.
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
    const items = JSON.parse(`[${text}]`) as readonly unknown[];
    return items.length > 0 ? items : undefined;
  } catch {
    return undefined;
  }
}
