/** Small operations on text from servers. Imports nothing, so that it loads fast everywhere. */

/** The first `most` UTF-16 units of the text; a clipped text ends with "…". */
export function clip(text: string, most = 1000): string {
  if (text.length <= most) return text;
  // Drops half of a split surrogate pair.
  return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** The message of anything thrown; never throws. */
export function errorMessage(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "unknown error";
  }
}

/** Parses a URL; undefined if it is invalid. Not `URL.canParse`, which in Node 20 rejects some non-ASCII URLs once optimised. */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
