/** Fuzzy matching: all typed letters in order; adjacent letters and starts of words score higher. Pure. */

/** Only this many characters of a text are searched. */
const longestText = 300;
const mostStarts = 20;

/** Higher is better; undefined if the text does not match. */
export function fuzzyScore(typed: string, text: string): number | undefined {
  const letters = typed.toLowerCase();
  if (letters === "") return 0;
  const within = text.slice(0, longestText);
  const lower = within.toLowerCase();
  let best: number | undefined;
  let start = lower.indexOf(letters.charAt(0));
  for (let tries = 0; start !== -1 && tries < mostStarts; tries += 1) {
    const score = scoreFrom(letters, within, lower, start);
    // A text that does not match from here does not match from a later start.
    if (score === undefined) break;
    if (best === undefined || score > best) best = score;
    start = lower.indexOf(letters.charAt(0), start + 1);
  }
  return best;
}

function scoreFrom(letters: string, text: string, lower: string, start: number): number | undefined {
  let score = start === 0 ? 20 : 0;
  let last = start - 1;
  for (const letter of letters) {
    const at = lower.indexOf(letter, last + 1);
    if (at === -1) return undefined;
    if (at === last + 1) score += 5;
    if (beginsWord(text, at)) score += 8;
    score -= Math.min(3, at - last - 1);
    last = at;
  }
  return score - text.length / longestText;
}

function beginsWord(text: string, at: number): boolean {
  const [before, here] = [text.charAt(at - 1), text.charAt(at)];
  return at === 0 || /[\s/:._-]/.test(before) || (/[a-z]/.test(before) && /[A-Z]/.test(here));
}

/** The items that match, best first; equal scores keep their order. */
export function rank<T>(items: readonly T[], typed: string, textOf: (item: T) => string, most: number): readonly T[] {
  return items
    .flatMap((item) => {
      const score = fuzzyScore(typed, textOf(item));
      return score === undefined ? [] : [{ item, score }];
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ item }) => item);
}
