/** The gate between foreign text and a terminal: what passes can move no cursor, hide nothing and turn nothing around. */

declare const brand: unique symbol;
/** Text that may be printed. Only this file makes it; output functions accept nothing else. */
export type SafeText = string & { readonly [brand]: true };

// Controls, lone surrogates, private-use and unassigned code points, and the separators that some terminals break lines at.
const disruptive = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u2028\u2029]/gu;
// Format characters (bidi marks, tags, soft hyphen), what Unicode says to show as nothing (zero-width, variation selectors, fillers), the empty braille pattern.
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

function picture(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x09 || code === 0x0a) return character;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** Foreign text for reading: newlines and tabs stay, controls become pictures, invisible characters are left out. */
export function toSafeText(text: string): SafeText {
  return text.replaceAll("\r\n", "\n").replaceAll(invisible, "").replaceAll(disruptive, picture) as SafeText;
}

/** The same on one line, for names, paths and table cells. */
export function toSafeLine(text: string): SafeText {
  return oneLine(toSafeText(text));
}

/** Foreign text where a person decides: nothing is left out, whatever would not be seen is made visible, on one line. */
export function toVisibleLine(text: string): SafeText {
  return oneLine(text.replaceAll(invisible, picture).replaceAll(disruptive, picture));
}

function oneLine(text: string): SafeText {
  return text.replaceAll("\n", "␊").replaceAll("\t", "␉") as SafeText;
}

/** Joins our own words with safe parts: `` safe`"${toSafeLine(name)}" is unknown` ``. */
export function safe(words: TemplateStringsArray, ...parts: readonly (SafeText | number)[]): SafeText {
  return words.reduce((text, word, index) => `${text}${parts[index - 1]}${word}`) as SafeText;
}

/** Joins safe parts with our own separator. */
export function joinSafe(parts: readonly SafeText[], separator: SafeText = "\n" as SafeText): SafeText {
  return parts.join(separator) as SafeText;
}

/** JSON that is safe to print: the same document, with every disruptive or invisible character escaped. */
export function toSafeJson(value: unknown, indent = 2): SafeText {
  const escaped = (character: string): string =>
    character === "\n"
      ? character
      : [...Array(character.length).keys()].map((at) => unicodeEscape(character, at)).join("");
  return JSON.stringify(value, undefined, indent)
    .replaceAll(disruptive, escaped)
    .replaceAll(invisible, escaped) as SafeText;
}

function unicodeEscape(text: string, at: number): string {
  return `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`;
}
