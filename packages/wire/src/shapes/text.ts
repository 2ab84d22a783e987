/** Small functions for text from servers. Imports nothing, so that it loads fast. */

/** Shortens a text to at most `most` UTF-16 units. A shortened text ends with "…". */
export function clip(text: string, most = 1000): string {
  if (text.length <= most) return text;
  // The cut may leave half of a surrogate pair. That half is dropped.
  return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Returns an error's message, or any other thrown value as text. Never throws. */
export function errorMessage(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "unknown error";
  }
}

/**
 * Returns the parsed URL, or undefined if it is invalid. `URL.canParse` is not used: in Node 20, it rejects some valid
 * URLs with non-ASCII characters.
 */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
