/** Small operations on text from servers. Imports nothing, so that it loads fast. */

/** Returns the first `most` UTF-16 units of the text. A shortened text ends with "…". */
export function clip(text: string, most = 1000): string {
  if (text.length <= most) return text;
  // Half of a surrogate pair at the end is dropped.
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
 * Parses a URL. Returns undefined if it is invalid. `URL.canParse` is not used, because Node 20 has a bug: it rejects
 * some valid URLs with non-ASCII characters.
 */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
