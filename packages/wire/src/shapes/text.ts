/** Small operations on text from elsewhere. Imports nothing, so that every package can use it without loading the engine. */

/** At most `most` characters (UTF-16 units) of the text; where some are left out, the last one is "…". */
export function clip(text: string, most = 1000): string {
  if (text.length <= most) return text;
  // Half of a character beyond the BMP is none.
  return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** The message of whatever was thrown. Never throws itself, though what was thrown may have no text at all. */
export function errorMessage(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "something that cannot be put into words";
  }
}

/** `URL.parse` of later versions of Node. Not `URL.canParse`: in Node 20, once optimised, that refuses addresses with letters beyond ASCII. */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
