/** The characters that a person does not see, or that do something instead of being seen. */

/** Controls, lone surrogates, private-use and unassigned code points, and the separators that some terminals break lines at. */
export const disruptive: RegExp = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u2028\u2029]/gu;

/** Format characters (bidi marks, tags, soft hyphen), what Unicode says to show as nothing (zero-width, variation selectors, fillers), the empty braille pattern. */
export const invisible: RegExp = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Blanks that are not the space bar's: they look like it, or wider, and part no words. */
export const exoticSpaces: RegExp = /(?! )\p{Zs}/gu;

/** Whether any of it is in the text; a line break or a tab counts too. */
export function hasUnseen(text: string): boolean {
  return [disruptive, invisible, exoticSpaces].some((kind) => text.search(kind) !== -1);
}
