/** Splits names, descriptions and queries into the words that the search compares. Pure. */

import { stemmer } from "stemmer";

/**
 * Frequent words that say nothing about a tool, including words that people often use in requests, such as "please".
 */
const stopWords = new Set(
  `a about above after again all also am an and any are as at be because been before being below between both but by can could
  did do does doing down during each etc few for from further had has have having he help her here hers him his how i if in
  into is it its itself just let like me more most mcp my need no nor not now of off on once only or other our out over own
  please provide provided provides s same server servers shall she should so some such t than that the their them then there these they this
  those through to too tool tools under until up us use used using very via want was we well were what when where which while who
  whom why will with within without would you your`.split(/\s+/),
);

/**
 * Chinese, Japanese and Korean characters. Their languages write no spaces between words, so each pair of neighbouring
 * characters counts as a word.
 */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu;
const word = /[\p{L}\p{M}]+|\p{N}+/gu;

/** The stems of words. Cached, because most words occur in many tools. */
const stems = new Map<string, string>();
const mostStems = 50_000;
const longestWord = 40;

/** The stem of a word in lower case: `creating` and `creates` become `creat`. */
export function stemOf(text: string): string {
  const cached = stems.get(text);
  if (cached !== undefined) return cached;
  const stem = /^[a-z]+$/.test(text) ? stemmer(text) : text;
  if (stems.size >= mostStems) stems.clear();
  stems.set(text, stem);
  return stem;
}

/**
 * The words of a text, in order, as stems. `getWeReadRank`, `get_we_read_rank` and `get we-read rank` contain the same
 * words.
 */
export function searchWords(text: string): readonly string[] {
  const plain = text
    .normalize("NFKC")
    .replaceAll(/(\p{Ll}|\p{N})(?=\p{Lu})/gu, "$1 ")
    .replaceAll(/(\p{Lu})(?=\p{Lu}\p{Ll})/gu, "$1 ")
    .toLowerCase();
  const words: string[] = [];
  const spaced = plain.replaceAll(unspaced, (run) => {
    for (const pair of pairsOf(run)) words.push(pair);
    return " ";
  });
  for (const [each] of spaced.replaceAll(/['’]s?\b/g, " ").matchAll(word))
    if (each.length <= longestWord && !stopWords.has(each)) words.push(stemOf(each));
  return words;
}

function pairsOf(run: string): readonly string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}
