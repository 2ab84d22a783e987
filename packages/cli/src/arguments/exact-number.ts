/** Finds numbers in JSON text that a JavaScript number cannot hold exactly. Pure. */

/** Matches strings and numbers; strings are matched so that digits inside them are skipped. */
const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;

/** Returns the first number that would lose digits or become infinite. */
export function inexactNumber(json: string): string | undefined {
  // A cheap test first: almost no text has a number that long.
  if (!/\d{16}|\d[eE]/.test(json)) return undefined;
  for (const [token] of json.matchAll(tokens)) if (!token.startsWith('"') && !isKept(token)) return token;
  return undefined;
}

/** A fraction or an exponent may be rounded; an integer must keep every digit. */
function isKept(token: string): boolean {
  const value = Number(token);
  return /[.eE]/.test(token) ? Number.isFinite(value) : value === 0 || String(value) === token;
}
