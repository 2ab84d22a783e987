/** Checks a URI that no server lists before it is requested: it must not lead out of its template's path. Pure. */

const overlong = /%c[01]/i;
const encodedByte = /%([0-9A-Fa-f]{2})/g;
const separators = /[/;?#&=]/;
/** How many times the URI is decoded: a server may decode it more than once. */
const rounds = 3;

/** Returns the problem, as the end of a sentence that begins with "it"; undefined if there is none. */
export function whyHarmful(uri: string): string | undefined {
  let text = uri;
  for (let round = 0; round < rounds; round += 1) {
    const reason = whyHarmfulAsIs(text);
    if (reason !== undefined) return reason;
    text = text.replaceAll(encodedByte, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  }
  return undefined;
}

function whyHarmfulAsIs(text: string): string | undefined {
  if (hasControl(text)) return "contains a control character";
  if (overlong.test(text)) return "contains invalid UTF-8";
  if (text.includes("\\")) return "contains a backslash";
  if (text.includes(":////")) return "names another machine";
  return text.split(separators).includes("..") ? 'contains ".."' : undefined;
}

function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at += 1)
    if (text.charCodeAt(at) < 0x20 || text.charCodeAt(at) === 0x7f) return true;
  return false;
}
