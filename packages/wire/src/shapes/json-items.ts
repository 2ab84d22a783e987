/**
 * Reads many items of a long JSON list with one `JSON.parse`, which takes a quarter of the time of reading them value
 * by value.
 */

/** Maximum number of characters that are read at once. `JSON.parse` takes a few milliseconds for this many. */
const mostCharacters = 128 * 1024;
/** Fewer characters are not worth the search for their end. */
const fewestCharacters = 4 * 1024;
/** Number of characters that the beginning of an item is recognised by. */
const beginLength = 8;
/** Maximum number of searches without success. A hostile text could otherwise make every search useless. */
const mostFailures = 8;

const openObject = 0x7b;

/** Items of a list, and the position in the text after their last comma. */
interface ItemRun {
  readonly items: readonly unknown[];
  readonly end: number;
}

/** Reads runs of items from one text. */
export interface ItemReader {
  /**
   * Reads the items of a list that begin at `from`, directly after a comma or the opening bracket of the list. `begin`
   * is the position of the first item after white space. Returns undefined if the items must be read one by one.
   */
  readonly read: (from: number, begin: number) => ItemRun | undefined;
}

export function createItemReader(text: string): ItemReader {
  let failures = 0;

  /**
   * Guesses where an item ends: before the last text that looks like the comma and the beginning of the item at
   * `from`. A wrong guess does no harm: the text from `from` to the guessed end is a list of JSON values only if each
   * of them is a complete item.
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
