/** Finds what JavaScript would lose of a JSON text: digits of numbers, and keys that an object has twice. Pure. */

/** Returns the first key that an object has twice. `json` must be valid JSON. */
export function duplicateName(json: string): string | undefined {
  /** For each object that is not closed yet, the keys read so far. The innermost object is last. */
  const open: Set<string>[] = [];
  let text = "";
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (character === "{") open.push(new Set());
    else if (character === "}") open.pop();
    else if (character === '"') {
      const end = endOfText(json, at);
      text = json.slice(at, end);
      at = end - 1;
    } else if (character === ":") {
      // Keys may contain escapes such as \u0061.
      const name = String(JSON.parse(text));
      const names = open.at(-1);
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return undefined;
}

function endOfText(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** Matches strings and numbers. Strings are matched only to skip the digits inside them. */
const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;

/** Returns the first number that would lose digits or become infinite. */
export function inexactNumber(json: string): string | undefined {
  // A cheap test comes first, because few texts have a number with 16 digits or an exponent.
  if (!/\d{16}|\d[eE]/.test(json)) return undefined;
  for (const [token] of json.matchAll(tokens)) if (!token.startsWith('"') && !isKept(token)) return token;
  return undefined;
}

/** Whether JavaScript can hold the number. An integer must keep every digit. A decimal number may be rounded. */
function isKept(token: string): boolean {
  const value = Number(token);
  return /[.eE]/.test(token) ? Number.isFinite(value) : value === 0 || String(value) === token;
}
