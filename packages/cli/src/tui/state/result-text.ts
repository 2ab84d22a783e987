/** The result of a call in words: what is not all text comes as the JSON of its blocks, which nobody wants to read. Pure; raw. */

import { writeJson } from "@fairlead/core/text/deep-json";
import { sizeWords } from "@fairlead/core/text/size-words";
import { isObject, member } from "@fairlead/wire/json";

/** Beside text. */
const kinds: ReadonlySet<unknown> = new Set(["image", "audio", "resource", "resource_link"]);
const fenced = /^```json\n([\s\S]*)\n```$/;

/** Each block by itself, bytes by their kind and number; anything else as it is. */
export function resultText(display: string): string {
  const json = fenced.exec(display)?.[1];
  if (json === undefined) return display;
  const blocks = toBlocks(json);
  if (!blocks.some((block) => kinds.has(member(block, "type")))) return display;
  const words = blocks.map(blockWords);
  return words.every((each) => each !== undefined) ? words.join("\n") : display;
}

function toBlocks(json: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? value : [];
  } catch {
    // Cut, or never meant as JSON: then it is shown as it came.
    return [];
  }
}

/** Undefined for what is no block of a result. */
function blockWords(block: unknown): string | undefined {
  const [text, data, mimeType, resource, uri, name] = ["text", "data", "mimeType", "resource", "uri", "name"].map(
    (key) => member(block, key),
  );
  switch (member(block, "type")) {
    case "text":
      return typeof text === "string" ? text : undefined;
    case "image":
    case "audio":
      return bytesWords(String(member(block, "type")), mimeType, data);
    case "resource":
      return isObject(resource) ? resourceWords(resource) : undefined;
    case "resource_link":
      return typeof uri === "string"
        ? `[link to ${oneLine(uri)}${name === uri ? "" : `: ${oneLine(name)}`}]`
        : undefined;
    default:
      return isObject(block) && typeof block["type"] === "string" ? writeJson(block, 2) : undefined;
  }
}

function resourceWords(resource: object): string {
  const [text, blob, uri, mimeType] = ["text", "blob", "uri", "mimeType"].map((key) => member(resource, key));
  const what = `resource ${oneLine(uri)}`;
  return typeof text === "string" ? `[${what}]\n${text}` : bytesWords(what, mimeType, blob);
}

function bytesWords(what: string, mimeType: unknown, data: unknown): string {
  const size = typeof data === "string" ? sizeWords(Buffer.byteLength(data, "base64")) : "empty";
  return `[${what}${typeof mimeType === "string" ? ` ${oneLine(mimeType)}` : ""}, ${size}]`;
}

function oneLine(value: unknown): string {
  return String(value).replaceAll(/\s+/g, " ");
}
