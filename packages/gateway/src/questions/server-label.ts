/**
 * Adds the server's name to a server's text that a person may take for one of Fairlead. At `/mcp`, all texts get it. At
 * `/mcp/<server>`, texts that mention Fairlead get it, also in letters that only look like it.
 */

import { toVisibleLine } from "@fairlead/core/text/safe-text";

/** Returns the text with the server's name before it, such as `The server "files" asks: …`. */
export function withServerName(text: string, server: string, verb: "asks" | "says"): string {
  return `The server "${toVisibleLine(server)}" ${verb}: ${text}`;
}

/**
 * Characters that look like a letter of "Fairlead" and have another base letter in Unicode. `i` and `l` share a row,
 * because they also look like each other.
 */
const lookalikes = [
  ["f", "ƒғϝꞙꬵꓝꜰꟻ₣𝈓ⅎ"],
  ["a", "аαɑᴀΛʌ⍺ꭺꓮ@4ªɐⱥ∀"],
  ["i", "lіıɩιӏІӀɪʟłƚɫɭɨꞁլ|!¡1ǀ∣│ןᎥꭵꓲᛁꮮꓡⅼⲓⳑ£⏐❘❙❚¦ꟾᴉ।"],
  ["r", "гᴦⲅꭇʀɾɼɽяꮢꭱꓣɹ"],
  ["e", "еєεҽɛəᴇ℮€ꭼꓰ∈3ⴹξǝ"],
  ["d", "ԁժɗđɖᴅꭰꓓð∂ꮷ₫"],
] as const;

const letters: ReadonlyMap<string, string> = new Map(
  lookalikes.flatMap(([letter, similar]) => Array.from(similar, (character) => [character, letter] as const)),
);

/** "Fairlead" after `toLetters`, also upside down. `cl` is read as `d`. */
const folded = /fairiea(?:d|ci)|paeiriaf/;
/** Characters that change the reading direction: the text is shown in another order than it is stored. */
const reordered = /[\u202A-\u202E\u2066-\u2069\u200F\u061C]/u;
/** The first letters of three alphabets in frames, which Unicode does not reduce to plain letters. */
const framedAlphabets = [0x1f1e6, 0x1f150, 0x1f170] as const;
/** Scripts of everyday texts. The table has those of their letters that look like a letter of "Fairlead". */
const usualScripts =
  "Latin Greek Cyrillic Armenian Georgian Hebrew Arabic Han Hiragana Katakana Hangul Bopomofo Thai Devanagari Bengali Tamil Telugu Common Inherited";
/** A letter of any other script. Many of these scripts have letters that look like Latin ones. */
const unusualLetter = new RegExp(`(?![${usualScripts.replaceAll(/(\w+) ?/g, "\\p{Script=$1}")}])\\p{L}`, "u");
/** Letters of Braille, which Unicode does not count as letters. */
const braille = /[\u2801-\u28FF]/u;
/** HTML, which some clients do not show as it is written. */
const markup = /<[a-z/!]|&#?\w+;/i;
/** In a longer text, Fairlead does not search: it counts as one that mentions Fairlead. */
const longestSearched = 65_536;

/** Whether a reader can find the word "Fairlead" in a text. In doubt, returns true. */
export function mentionsFairlead(text: string): boolean {
  if (text.length > longestSearched) return true;
  if ([reordered, unusualLetter, braille, markup].some((doubtful) => doubtful.test(text))) return true;
  return folded.test(toLetters(text));
}

/** Keeps letters and digits, and replaces each letter by the one of "Fairlead" that it looks like. */
function toLetters(text: string): string {
  let found = "";
  // Unicode reduces the long s to an s, although it looks like an f.
  for (const character of text.replaceAll("ſ", "f").normalize("NFKD")) {
    const lower = character.toLowerCase();
    const letter = letters.get(character) ?? letters.get(lower) ?? framedLetter(character) ?? lower;
    if (/^[\p{L}\p{N}]/u.test(letter)) found += letters.get(letter) ?? letter;
  }
  return found;
}

function framedLetter(character: string): string | undefined {
  const code = character.codePointAt(0) ?? 0;
  const first = framedAlphabets.find((start) => code >= start && code < start + 26);
  return first === undefined ? undefined : String.fromCharCode(97 + code - first);
}
