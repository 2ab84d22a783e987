/**
 * Converts a protocol message to JSON for a recording. Hides the server's secrets and, with `hideResults`, its results.
 */

import { isUtf8 } from "node:buffer";
import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { writeJson } from "../text/deep-json.ts";
import { hidden } from "../text/hidden-text.ts";
import { isTelling, type Redact } from "./redact.ts";

/** Direction of a message, as Fairlead sees it: `sent` to the server or `received` from it. */
export type Direction = "sent" | "received";

/** Converts a message of one connection to JSON with hidden secrets. */
export type MessageWriter = (direction: Direction, message: JsonObject) => string;

/** Methods whose results describe the server itself, such as `tools/list`. `hideResults` hides all other results. */
const descriptions: ReadonlySet<unknown> = new Set(
  "initialize server/discover tools/list prompts/list resources/list resources/templates/list ping".split(" "),
);

/** Members that stay readable when `hideResults` hides a result. They describe the message and contain no user data. */
const structural: ReadonlySet<string> = new Set(
  "jsonrpc id method type role mimeType resultType taskId status level progressToken nextCursor".split(" "),
);

/**
 * Creates the function that converts the messages of one connection to JSON, in their order. `redact` and `hideResults`:
 * see `createMessageHider`.
 */
export function createMessageWriter(redact: Redact, hideResults: boolean): MessageWriter {
  const write = createMessageHider(redact, hideResults);
  /** The methods of the client's open requests, by id. */
  const methods = new Map<unknown, unknown>();
  return (direction, message) => {
    const { method, id } = message;
    if (direction === "sent" && method !== undefined && id !== undefined) methods.set(id, method);
    const asked = methods.get(id);
    if (direction === "received" && method === undefined) methods.delete(id);
    return write(direction, message, asked);
  };
}

/** Members whose texts are bytes in base64: images, sounds and contents of resources. */
const byteMembers: ReadonlySet<string> = new Set(["data", "blob"]);

/**
 * Creates the function that converts a message to JSON. Redacts each text separately, because a pattern that matches
 * across quotes would break the JSON. `asked` is the method of the request that the message answers.
 *
 * @param hideResults Whether to hide texts and numbers in all messages except lists and handshakes.
 */
export function createMessageHider(
  redact: Redact,
  hideResults: boolean,
): (direction: Direction, message: JsonObject, asked?: unknown) => string {
  return (direction, message, asked) => {
    const isHidden = hideResults && direction === "received" && !descriptions.has(message["method"] ?? asked);
    return writeJson(message, 0, (key, value: unknown) => {
      if (isHidden && !structural.has(key)) {
        if (typeof value === "string") return hidden;
        if (typeof value === "number") return 0;
      }
      if (isSecretMember(direction, key, value)) return direction === "sent" ? hidden : hiddenValue(value);
      if (typeof value === "string") return redactText(key, value, redact);
      if (typeof value === "number") return redact(String(value)) === String(value) ? value : hidden;
      return isObject(value) ? redactKeys(value, redact) : value;
    });
  };
}

/**
 * Redacts a text. Bytes that are a text are redacted too, and stay base64. Bytes that are no text stay as they are: a
 * pattern for secrets could find itself in the bytes of an image.
 */
function redactText(key: string, value: string, redact: Redact): string {
  const redacted = redact(value);
  if (redacted !== value || !byteMembers.has(key) || !/^[\w+/-]+={0,2}$/.test(value)) return redacted;
  const bytes = Buffer.from(value, "base64");
  if (!isUtf8(bytes)) return value;
  const text = bytes.toString("utf8");
  const hiddenText = redact(text);
  return hiddenText === text ? value : Buffer.from(hiddenText).toString("base64");
}

/**
 * Whether a member contains a secret, judging by its name. If a server sends an object named `token`, the object is the
 * schema of an argument, not a secret.
 */
function isSecretMember(direction: Direction, key: string, value: unknown): boolean {
  if (!isTelling(key) || value === null || typeof value === "boolean") return false;
  return direction === "sent" || !isObject(value);
}

/**
 * The value that a recording contains instead of a server's secret. It has the secret's type, because a result that is
 * played back must still match the output schema of its tool.
 */
function hiddenValue(value: unknown): unknown {
  if (typeof value === "number") return 0;
  return Array.isArray(value) ? [] : hidden;
}

function redactKeys(value: JsonObject, redact: Redact): JsonObject {
  const names = Object.keys(value);
  if (names.every((name) => redact(name) === name)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [redact(name), inner]));
}
