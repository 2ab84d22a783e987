/** `URL.parse` of later versions of Node. Not `URL.canParse`: in Node 20, once optimised, that refuses addresses with letters beyond ASCII. */

export function parseUrl(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
