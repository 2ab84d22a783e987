/** Text as a URI can hold it: whatever has no place there, as the bytes of its UTF-8. */

const notUnreserved = /[^A-Za-z0-9\-._~]/gu;
/** What is percent-encoded already stays as it is; a percent sign of its own does not. */
const notInUri = /%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]/gu;

/** A value: nothing in it can be taken for a part of the URI's own. */
export function encodeValue(text: string): string {
  return text.replaceAll(notUnreserved, toBytes);
}

/** A piece of a URI: its delimiters stay. */
export function encodeUri(text: string): string {
  return text.replaceAll(notInUri, (found) => (found.length === 3 ? found : toBytes(found)));
}

/** Half of a pair of surrogates becomes the replacement character. */
function toBytes(character: string): string {
  return Array.from(
    Buffer.from(character, "utf8"),
    (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
  ).join("");
}
