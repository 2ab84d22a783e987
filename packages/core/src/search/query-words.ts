/** Finds the words to search for: the words of the query, their synonyms, and words with a similar spelling. Pure. */

import { synonymsOf } from "./synonyms.ts";
import { searchWords } from "./words.ts";

/** Words that stand for the same word of a query. */
export interface WordGroup {
  /** The words, each with its weight in the ranking. */
  readonly weights: ReadonlyMap<string, number>;
  /**
   * All words that a tool contains count together at most this many times as much as the best of them. Otherwise a tool
   * could win by listing many synonyms.
   */
  readonly most: number;
}

const synonymWeight = 0.3;
const mostOfSynonyms = 2.5;
const longestQuery = 2000;
const mostWords = 64;

/** In a query of at least this many words, the words in URLs and paths count as much as the other words. */
const longQuery = 12;

/** Returns the words to search for. `toolWords` contains all words of the indexed tools. */
export function queryWords(query: string, toolWords: ReadonlyMap<string, unknown>): readonly WordGroup[] {
  const text = query.slice(0, longestQuery);
  const read = searchWords(withoutValues(text)).slice(0, mostWords);
  const taken = new Set<string>();

  /** Each word belongs to one group only. */
  function groupOf(words: Iterable<string>, weight: number, most = 1): WordGroup {
    const weights = new Map<string, number>();
    for (const word of words) if (!taken.has(word)) weights.set(word, weight);
    for (const word of weights.keys()) taken.add(word);
    return { weights, most };
  }

  const asked = read.map((word) => groupOf(toolWords.has(word) ? [word] : respelled(word, toolWords), 1));
  const words = [...taken];
  const values = searchWords(text)
    .slice(0, mostWords)
    .filter((word) => toolWords.has(word));
  /*
   * In a short query, words in URLs and paths weigh less. Otherwise they would outweigh the words that describe the
   * task.
   */
  const valueWeight = Math.min(1, read.length / longQuery);
  const ofValues = (): readonly WordGroup[] => values.map((word) => groupOf([word], valueWeight));
  const ofSynonyms = (): readonly WordGroup[] =>
    words.map((word) => groupOf(synonymsOf(word), synonymWeight, mostOfSynonyms));
  // A word that is a value and a synonym counts as what weighs more.
  const others = valueWeight > synonymWeight ? [ofValues, ofSynonyms] : [ofSynonyms, ofValues];
  return [...asked, ...others.flatMap((groups) => groups())].filter(({ weights }) => weights.size > 0);
}

/**
 * Replaces each URL by `url`, and `/tmp/a.csv` by `file .csv`. The words inside a URL or path say little about the
 * tool.
 */
function withoutValues(query: string): string {
  return query
    .replaceAll(/\b[a-z]+:\/\/\S+/gi, " url ")
    .replaceAll(
      /(?<![\w/])(?:~|\.{1,2})?\/[\w/-]+((?:\.\w+)*)/g,
      (_path, extensions: string) => ` file ${extensions} `,
    );
}

const shortestMisspelt = 5;

/** Returns the word, and the known words with the same first letter that differ from it by one letter. */
function respelled(word: string, toolWords: ReadonlyMap<string, unknown>): readonly string[] {
  if (word.length < shortestMisspelt) return [word];
  const near: string[] = [word];
  const first = word.charCodeAt(0);
  for (const other of toolWords.keys())
    if (other.charCodeAt(0) === first && differsByOne(word, other)) near.push(other);
  return near;
}

/** Whether two words differ by one letter, or by two neighbouring letters that are exchanged. */
function differsByOne(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const rest = (text: string, skipped: number): string => text.slice(at + skipped);
  return (
    rest(one, 1) === rest(other, 1) ||
    rest(one, 1) === rest(other, 0) ||
    rest(one, 0) === rest(other, 1) ||
    (one[at] === other[at + 1] && one[at + 1] === other[at] && rest(one, 2) === rest(other, 2))
  );
}
