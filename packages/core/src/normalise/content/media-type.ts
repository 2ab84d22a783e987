/**
 * The media types that models' APIs accept, and their file extensions. One wrong type makes the API reject the whole
 * conversation.
 */

/** The types that the Gemini API accepts inline, with their file extensions. */
const accepted: ReadonlyMap<string, string> = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/webp", "webp"],
  ["image/heic", "heic"],
  ["image/heif", "heif"],
  ["audio/wav", "wav"],
  ["audio/mp3", "mp3"],
  ["audio/mpeg", "mp3"],
  ["audio/aiff", "aiff"],
  ["audio/aac", "aac"],
  ["audio/ogg", "ogg"],
  ["audio/flac", "flac"],
  ["video/mp4", "mp4"],
  ["video/mpeg", "mpeg"],
  ["video/mov", "mov"],
  ["video/quicktime", "mov"],
  ["video/avi", "avi"],
  ["video/x-flv", "flv"],
  ["video/mpg", "mpg"],
  ["video/webm", "webm"],
  ["video/wmv", "wmv"],
  ["video/3gpp", "3gp"],
  ["application/pdf", "pdf"],
]);

const aliases: ReadonlyMap<string, string> = new Map([
  ["image/jpg", "image/jpeg"],
  ["image/x-png", "image/png"],
  ["audio/x-wav", "audio/wav"],
  ["audio/wave", "audio/wav"],
  ["audio/vnd.wave", "audio/wav"],
  ["audio/x-aiff", "audio/aiff"],
  ["audio/x-flac", "audio/flac"],
  ["audio/x-aac", "audio/aac"],
]);

const others: ReadonlyMap<string, string> = new Map([
  ["image/gif", "gif"],
  ["image/svg+xml", "svg"],
  ["application/zip", "zip"],
  ["application/json", "json"],
]);

/** Media types by file extension. If an extension belongs to several types, the first type is used. */
const byExtension: ReadonlyMap<string, string> = new Map([
  ["jpeg", "image/jpeg"],
  ...[...accepted, ...others].reverse().map(([type, extension]) => [extension, type] as const),
]);

const wellFormed = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/;
const textual = /^text\/|^application\/(json|xml|yaml|x-yaml|toml|javascript|x-sh|sql)$|\+(json|xml)$/;

/**
 * Returns the type in lower case, without parameters, and with aliases replaced. If the text is not a media type,
 * returns `application/octet-stream`.
 */
export function toMediaType(given: string): string {
  const type = (given.split(";", 1)[0] ?? "").trim().toLowerCase();
  return wellFormed.test(type) ? (aliases.get(type) ?? type) : "application/octet-stream";
}

/** Whether the Gemini API accepts the type inline. */
export function isAccepted(type: string): boolean {
  return accepted.has(type);
}

/**
 * The media types that Gemini 3 accepts in a function response. Source: "multimodal responses" at
 * ai.google.dev/gemini-api/docs/function-calling.
 */
const acceptedInResponses: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/webp", "application/pdf"]);

/** Whether a function response may contain this type. */
export function isAcceptedInResponse(type: string): boolean {
  return acceptedInResponses.has(type);
}

/** Whether bytes of this type are text. If they are, a model gets them as text. */
export function isTextual(type: string): boolean {
  return textual.test(type);
}

/** The media type for a file extension. Undefined for text files and for unknown extensions. */
export function typeOfExtension(extension: string): string | undefined {
  return byExtension.get(extension.toLowerCase());
}

/**
 * The file extension for a media type, without the dot: `txt` for unknown text types, `bin` for other unknown types.
 */
export function extensionOf(type: string): string {
  return accepted.get(type) ?? others.get(type) ?? (isTextual(type) ? "txt" : "bin");
}

const dataUrl = /^data:[^,]{0,200};base64,/;
const foreign = /[^A-Za-z0-9+/]/;

/**
 * Converts Base64 to its standard form. Servers may send Base64 with line breaks, in the URL alphabet, or as a data
 * URL. Undefined if the text is invalid or empty.
 */
export function readBase64(given: string): string | undefined {
  const text = given.replace(dataUrl, "").replaceAll(/\s+/g, "");
  const end = text.endsWith("==") ? -2 : text.endsWith("=") ? -1 : text.length;
  const digits = text.slice(0, end).replaceAll("-", "+").replaceAll("_", "/");
  if (digits === "" || digits.length % 4 === 1 || foreign.test(digits)) return undefined;
  return digits.padEnd(Math.ceil(digits.length / 4) * 4, "=");
}

/** The number of bytes that the Base64 text decodes to. */
export function byteLength(base64: string): number {
  return Buffer.byteLength(base64, "base64");
}
