/** How well a few typed letters fit a text: all of them, in their order, better together and where a word begins. Pure. */

/** Of a longer one only the beginning is looked at: a server may write without end. */
const longestText = 300;
const mostStarts = 20;

/** Higher is better; undefined for what does not fit. */
export function fuzzyScore(typed: string, text: string): number | undefined {
  const letters = typed.toLowerCase();
  if (letters === "") return 0;
  const within = text.slice(0, longestText);
  const lower = within.toLowerCase();
  let best: number | undefined;
  let start = lower.indexOf(letters.charAt(0));
  for (let tries = 0; start !== -1 && tries < mostStarts; tries += 1) {
    const score = scoreFrom(letters, within, lower, start);
    // What does not fit from here does not fit from further on.
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

/** Those that fit, the best first; of equals, the one that came first. */
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
