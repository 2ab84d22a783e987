/** Finds the most similar known word, for "did you mean". */

/** Returns the most similar known word, ignoring case. Undefined if none is similar enough. */
export function closest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  // A third of the letters may differ, but at least one and at most four.
  let limit = Math.min(4, Math.max(1, Math.floor(word.length / 3))) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), limit);
    if (distance < limit) [best, limit] = [candidate, distance];
  }
  return best;
}

/** Damerau–Levenshtein distance: two swapped neighbours count once. Stops at `limit`, to save time with long words. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
        swapped ? (beforeLast[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    if (Math.min(...row) >= limit) return limit;
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? limit;
}
