/**
 * Patterns for characters that are invisible or change how text is displayed. Creating a pattern with `\p{…}` takes
 * some tenths of a millisecond, so each pattern is created only when a text needs it.
 */

/**
 * Matches control characters, lone surrogates, private-use and unassigned code points, and the separators at which some
 * terminals break lines.
 */
export const disruptive = (): RegExp => /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u2028\u2029]/gu;

/**
 * Matches format characters (bidi marks, tags, soft hyphen), default-ignorable characters (zero-width, variation
 * selectors, fillers) and the empty braille pattern.
 */
export const invisible = (): RegExp => /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Matches blanks other than U+0020. They look like a space but do not separate words in a shell. */
export const exoticSpaces = (): RegExp => /(?! )\p{Zs}/gu;

/**
 * Matches any character outside printable ASCII. This is a quick test: most texts contain no such character and need no
 * further tests.
 */
const unusual = /[^ -~]/;

/** Whether the text contains a disruptive or invisible character. Line breaks and tabs count too. */
export function hasUnseen(text: string): boolean {
  return unusual.test(text) && [disruptive, invisible, exoticSpaces].some((kind) => text.search(kind()) !== -1);
}
