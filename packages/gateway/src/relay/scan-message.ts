/** Finds the id and the method of a JSON-RPC message. Does not parse the whole message, because it may be long. */

/** The id and the method of a message. */
export interface ScannedMessage {
  /** The id as JSON text, such as `7` or `"a"`. Undefined in a notification. */
  readonly id: string | undefined;
  /** The method. Undefined in a response. */
  readonly method: string | undefined;
}

/** Matches the beginning of a response as the background host writes it. */
const response = /^\{"jsonrpc":"2\.0","id":(\d{1,15}|"[^"\\]{0,40}"),"(?:result|error)":/;
/** Matches the beginning of a request in the order of members that many clients use. */
const request = /^\{"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14}|"[\w.:-]{0,60}"),"method":"([\w/$.-]{1,60})"[,}]/;
/** `request` needs at most this many bytes. */
const requestStart = 170;
const quote = 0x22;
const backslash = 0x5c;

/** Reads the id and the method of a line from the host. Responses are found faster than with `scanMessage`. */
export function scanHostLine(line: Buffer): ScannedMessage | undefined {
  const [, id] = response.exec(line.toString("latin1", 0, 80)) ?? [];
  return id === undefined ? scanMessage(line) : { id, method: undefined };
}

/** Reads the id and the method of any message. Returns undefined if the line is not a JSON object. */
export function scanMessage(line: Buffer): ScannedMessage | undefined {
  const [, early, named] = request.exec(line.toString("latin1", 0, requestStart)) ?? [];
  if (early !== undefined) return { id: early, method: named };
  // In Latin-1, each byte is one character, so an index in `text` is also an index in `line`.
  const text = line.toString("latin1");
  let id: string | undefined;
  let method: string | undefined;
  let at = afterSpace(text, 0);
  if (text[at] !== "{") return undefined;
  at = afterSpace(text, at + 1);
  while (text[at] === '"') {
    const keyEnd = stringEnd(text, at);
    const key = text.slice(at + 1, keyEnd - 1);
    const colon = afterSpace(text, keyEnd);
    if (text[colon] !== ":") return undefined;
    const from = afterSpace(text, colon + 1);
    const to = valueEnd(text, from);
    if (to === -1) return undefined;
    if (key === "id") id = toKey(line.toString("utf8", from, to));
    else if (key === "method") method = toText(line.toString("utf8", from, to));
    if (id !== undefined && method !== undefined) break;
    at = afterSpace(text, to);
    if (text[at] !== ",") break;
    at = afterSpace(text, at + 1);
  }
  return { id, method };
}

function toKey(json: string): string | undefined {
  if (/^(?:0|[1-9]\d{0,14})$/.test(json)) return json;
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "string" || typeof value === "number" ? JSON.stringify(value) : undefined;
  } catch {
    return undefined;
  }
}

function toText(json: string): string | undefined {
  if (/^"[\w/$.-]*"$/.test(json)) return json.slice(1, -1);
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

function afterSpace(text: string, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code === 32 || (code >= 9 && code <= 13); code = text.charCodeAt(at)) at += 1;
  return at;
}

/** Returns the index after the string's closing quote, or the length of the text if there is none. */
function stringEnd(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === backslash) slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
  return text.length;
}

/** Returns the index after a JSON value, or -1 if the text ends inside a value that is not a string. */
function valueEnd(text: string, from: number): number {
  if (text.charCodeAt(from) === quote) return stringEnd(text, from);
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = stringEnd(text, at) - 1;
    else if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (code === 0x2c || code === 32 || (code >= 9 && code <= 13))) return at;
  }
  return -1;
}
