/** Keeps the results of the latest calls, within a number of bytes, and shows them without the bytes of their blocks. */

import { HostError } from "@fairlead/core/errors";
import { plainDisplay } from "@fairlead/core/normalise";
import { writeJson } from "@fairlead/core/plain-text";
import type { Block, JsonObject } from "@fairlead/wire";
import { isObject, listOf, stringOf } from "@fairlead/wire/json";

/** What the page reads of an ended call. */
export interface ShownResult {
  readonly result?: JsonObject | undefined;
  readonly display?: string | undefined;
  readonly warnings: readonly string[];
}

interface KeptResult {
  readonly value: JsonObject;
  readonly bytes: number;
}

/** Results of at most this many bytes together, the latest ones. A larger result is not kept. */
const mostBytes = 32 * 1024 * 1024;

export class KeptResults {
  readonly #kept = new Map<string, KeptResult>();
  readonly #most: number;
  #bytes = 0;

  constructor(most: number = mostBytes) {
    this.#most = most;
  }

  /** How many bytes of JSON are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps a result, and forgets older ones. */
  add(call: string, result: unknown): void {
    if (!isObject(result)) return;
    const value = toResource(result);
    const bytes = Buffer.byteLength(writeJson(value));
    this.remove(call);
    if (bytes > this.#most) return;
    this.#kept.set(call, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#most) break;
      this.remove(oldest);
    }
  }

  remove(call: string): void {
    this.#bytes -= this.#kept.get(call)?.bytes ?? 0;
    this.#kept.delete(call);
  }

  /** The whole result, as the host has it. */
  whole(call: string): JsonObject | undefined {
    return this.#kept.get(call)?.value;
  }

  /** The result without the bytes of its blocks. Undefined if it is not kept. */
  show(call: string): ShownResult | undefined {
    const kept = this.#kept.get(call);
    if (kept === undefined) return undefined;
    const { warnings, notes, ...result } = kept.value;
    return {
      result: withoutBytes(result),
      display: displayOf(result),
      warnings: [...listOf(warnings), ...listOf(notes)].filter((each) => typeof each === "string"),
    };
  }

  /**
   * The bytes of a block, such as an image, or of a text.
   *
   * @param path The JSON pointer of the block.
   * @param hide Hides secrets in texts. An image stays as it is.
   * @throws HostError `not_found`
   */
  blob(call: string, path: string, hide: (text: string) => string): { readonly type: string; readonly base64: string } {
    const block = this.#blockAt(call, path);
    const bytes = block && bytesOf(block);
    const text = stringOf(block?.["text"]);
    const type = stringOf(block?.["mimeType"]);
    if (bytes !== undefined) return { type: type ?? "application/octet-stream", base64: hiddenIn(bytes, hide) };
    if (text !== undefined) return { type: type ?? "text/plain", base64: Buffer.from(hide(text)).toString("base64") };
    throw new HostError("not_found", "the result has no bytes there, or is no longer kept");
  }

  #blockAt(call: string, path: string): JsonObject | undefined {
    let value: unknown = this.#kept.get(call)?.value;
    for (const step of path.split("/").slice(1)) {
      const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
      if (Array.isArray(value)) value = value[Number(name)];
      else value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    }
    if (!isObject(value)) return undefined;
    // Embedded resources have their bytes one level deeper.
    return isObject(value["resource"]) ? value["resource"] : value;
  }
}

/** A file of a skill as the result of reading a resource. Other results stay as they are. */
function toResource(result: JsonObject): JsonObject {
  const { uri, bytes } = result;
  if (!(bytes instanceof Uint8Array)) return result;
  const text = new TextDecoder().decode(bytes);
  const isText = Buffer.from(text, "utf8").equals(bytes);
  return { contents: [isText ? { uri, text } : { uri, blob: Buffer.from(bytes).toString("base64") }] };
}

/** Hides secrets in bytes that are a text. Other bytes stay as they are. */
function hiddenIn(base64: string, hide: (text: string) => string): string {
  const bytes = Buffer.from(base64, "base64");
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? Buffer.from(hide(text)).toString("base64") : base64;
}

function bytesOf({ data, blob }: JsonObject): string | undefined {
  return stringOf(data) ?? stringOf(blob);
}

/** The members of results that contain blocks or contents of resources. */
const blockLists: ReadonlySet<string> = new Set(["content", "contents", "messages"]);

function withoutBytes(result: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(result).map(([name, value]) => [name, blockLists.has(name) ? listOf(value).map(shownBlock) : value]),
  );
}

function shownBlock(value: unknown): unknown {
  if (!isObject(value)) return value;
  // A message of a prompt.
  if (isObject(value["content"])) return { ...value, content: shownBlock(value["content"]) };
  if (value["type"] === "unknown" && value["raw"] !== undefined) return value["raw"];
  if (isObject(value["resource"])) return { ...value, resource: shownBlock(value["resource"]) };
  const bytes = bytesOf(value);
  if (bytes === undefined) return value;
  const { data: _data, blob: _blob, ...others } = value;
  return { ...others, bytes: Buffer.byteLength(bytes, "base64") };
}

function displayOf({ content, structuredContent }: JsonObject): string | undefined {
  const blocks = listOf(content).filter(isBlock);
  if (blocks.length === 0 && structuredContent === undefined) return undefined;
  return plainDisplay(blocks, structuredContent);
}

/** Results of clients' calls are as the server sent them, so a block may lack members. */
function isBlock(value: unknown): value is Block {
  if (!isObject(value)) return false;
  const { type, text, data, mimeType, uri, resource } = value;
  switch (type) {
    case "text":
      return typeof text === "string";
    case "image":
    case "audio":
      return typeof data === "string" && typeof mimeType === "string";
    case "resource_link":
      return typeof uri === "string";
    case "resource":
      return isObject(resource);
    default:
      return type === "unknown";
  }
}
