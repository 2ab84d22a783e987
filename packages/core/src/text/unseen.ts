/**
 * Characters that are invisible or change how text is displayed. A pattern with `\p{…}` takes some tenths of a millisecond to create, so
 * each is created when a text needs it; V8 copies the second one from the first.
 */

/** Controls, lone surrogates, private-use and unassigned code points, and the separators that some terminals break lines at. */
export const disruptive = (): RegExp => /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u2028\u2029]/gu;

/** Format characters (bidi marks, tags, soft hyphen), default-ignorable characters (zero-width, variation selectors, fillers), and the empty braille pattern. */
export const invisible = (): RegExp => /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Blanks other than U+0020. They look like a space but do not separate words in a shell. */
export const exoticSpaces = (): RegExp => /(?! )\p{Zs}/gu;

/** A quick test: most texts contain no other character. */
const unusual = /[^ -~]/;

/** Whether the text contains a disruptive or invisible character; line breaks and tabs count too. */
export function hasUnseen(text: string): boolean {
  return unusual.test(text) && [disruptive, invisible, exoticSpaces].some((kind) => text.search(kind()) !== -1);
}
