/** Characters that are invisible or change how text is displayed. */

/** Controls, lone surrogates, private-use and unassigned code points, and the separators that some terminals break lines at. */
export const disruptive: RegExp = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u2028\u2029]/gu;

/** Format characters (bidi marks, tags, soft hyphen), default-ignorable characters (zero-width, variation selectors, fillers), and the empty braille pattern. */
export const invisible: RegExp = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Blanks other than U+0020. They look like a space but do not separate words in a shell. */
export const exoticSpaces: RegExp = /(?! )\p{Zs}/gu;

/** Whether the text contains a disruptive or invisible character; line breaks and tabs count too. */
export function hasUnseen(text: string): boolean {
  return [disruptive, invisible, exoticSpaces].some((kind) => text.search(kind) !== -1);
}
