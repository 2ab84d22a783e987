/** Which media a model's API takes as bytes, and what to call a file of each kind: one wrong type in a conversation and the API refuses all of it from then on. */

/** What the Gemini API takes inline, with the ending of its files. */
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

/** Other names of the same. */
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

/** The first type of each ending. */
const byExtension: ReadonlyMap<string, string> = new Map([
  ["jpeg", "image/jpeg"],
  ...[...accepted, ...others].reverse().map(([type, extension]) => [extension, type] as const),
]);

const wellFormed = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/;
const textual = /^text\/|^application\/(json|xml|yaml|x-yaml|toml|javascript|x-sh|sql)$|\+(json|xml)$/;

/** Without parameters, in lower case and under its usual name; what is no type at all is not repeated. */
export function toMediaType(given: string): string {
  const type = (given.split(";", 1)[0] ?? "").trim().toLowerCase();
  return wellFormed.test(type) ? (aliases.get(type) ?? type) : "application/octet-stream";
}

export function isAccepted(type: string): boolean {
  return accepted.has(type);
}

/** What may stand inside a function response, as of Gemini 3 (ai.google.dev/gemini-api/docs/function-calling, multimodal responses). */
const acceptedInResponses: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/webp", "application/pdf"]);

export function isAcceptedInResponse(type: string): boolean {
  return acceptedInResponses.has(type);
}

/** Whether bytes of this type are text, which a model is better given as such. */
export function isTextual(type: string): boolean {
  return textual.test(type);
}

/** Of a file, by the ending of its name; undefined for what is most likely text, or not known. */
export function typeOfExtension(extension: string): string | undefined {
  return byExtension.get(extension.toLowerCase());
}

export function extensionOf(type: string): string {
  return accepted.get(type) ?? others.get(type) ?? (isTextual(type) ? "txt" : "bin");
}
