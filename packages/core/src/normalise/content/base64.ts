/** Reads Base64 as servers send it: with line breaks, in the URL alphabet, as a data URL, or invalid. */

const dataUrl = /^data:[^,]{0,200};base64,/;
const foreign = /[^A-Za-z0-9+/]/;

/** Returns standard Base64; undefined if the text is invalid or empty. */
export function readBase64(given: string): string | undefined {
  const text = given.replace(dataUrl, "").replaceAll(/\s+/g, "");
  const end = text.endsWith("==") ? -2 : text.endsWith("=") ? -1 : text.length;
  const digits = text.slice(0, end).replaceAll("-", "+").replaceAll("_", "/");
  if (digits === "" || digits.length % 4 === 1 || foreign.test(digits)) return undefined;
  return digits.padEnd(Math.ceil(digits.length / 4) * 4, "=");
}

/** The number of decoded bytes. */
export function byteLength(base64: string): number {
  return Buffer.byteLength(base64, "base64");
}
