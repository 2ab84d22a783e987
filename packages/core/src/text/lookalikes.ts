/** Letters that are easily taken for others: those of another alphabet in the middle of a Latin word. */

/** What counts as one word to the eye; characters that are not seen do not part it. */
const words = /[\p{L}\p{M}\p{N}\p{Cf}_]+/gu;
const latin = /\p{Script=Latin}/u;
/** Not those that people mix with Latin every day, and that look like nothing else. */
const foreign =
  /(?![\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Hangul}])\p{L}/gu;

export function markLookalikes(text: string, mark: (character: string) => string): string {
  return text.replaceAll(words, (word) => (latin.test(word) ? word.replaceAll(foreign, mark) : word));
}
