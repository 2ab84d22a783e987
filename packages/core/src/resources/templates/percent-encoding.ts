/** Percent-encodes text for URIs, as UTF-8. */

const notUnreserved = /[^A-Za-z0-9\-._~]/gu;
/** An existing percent-encoding stays; a single percent sign is encoded. */
const notInUri = /%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]/gu;

/** Encodes a value, including all characters that have a meaning in a URI. */
export function encodeValue(text: string): string {
  return text.replaceAll(notUnreserved, toBytes);
}

/** Encodes a part of a URI and keeps its delimiters. */
export function encodeUri(text: string): string {
  return text.replaceAll(notInUri, (found) => (found.length === 3 ? found : toBytes(found)));
}

/** A lone surrogate becomes the replacement character. */
function toBytes(character: string): string {
  return Array.from(
    Buffer.from(character, "utf8"),
    (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
  ).join("");
}
