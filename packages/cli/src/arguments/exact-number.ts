/** Numbers that would change on their way through JavaScript, found in the text before they do. Pure. */

/** Numbers outside of quotes; the quoted parts are matched so that nothing in them is. */
const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;

/** The first number of a JSON text that would lose digits, or become infinite. */
export function inexactNumber(json: string): string | undefined {
  // Nearly no text has one: a look for enough digits is cheaper than taking it apart.
  if (!/\d{16}|\d[eE]/.test(json)) return undefined;
  for (const [token] of json.matchAll(tokens)) if (!token.startsWith('"') && !isKept(token)) return token;
  return undefined;
}

/** What has a fraction or an exponent is near enough by nature; a whole number is meant to the last digit. */
function isKept(token: string): boolean {
  const value = Number(token);
  return /[.eE]/.test(token) ? Number.isFinite(value) : value === 0 || String(value) === token;
}
