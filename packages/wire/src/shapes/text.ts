/** Small operations on text from servers. Imports nothing, so that it loads fast. */

/** Returns the first `most` UTF-16 units of the text. A shortened text ends with "…". */
export function clip(text: string, most = 1000): string {
  if (text.length <= most) return text;
  // If the cut splits a surrogate pair, its first half is dropped too.
  return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Returns the message of any thrown value. Never throws. */
export function errorMessage(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "unknown error";
  }
}

/**
 * Parses a URL. Returns undefined if it is invalid. Does not use `URL.canParse`, which in Node 20 rejects some
 * non-ASCII URLs after optimisation.
 */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
