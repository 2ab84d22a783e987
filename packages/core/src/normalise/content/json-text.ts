/** Writes JSON for a model or the user. A note with type and size replaces binary data. */

import { sizeWords } from "../../text/size-words.ts";
import { byteLength, readBase64 } from "./media-type.ts";

/**
 * Writes a value as JSON, with binary data replaced by its type and size. Binary data is a string in the member `blob`.
 * It may also be in the member `data` of an object that has a MIME type or is an image or audio block.
 */
export function toReadableJson(value: unknown, indent?: number): string {
  return toJson(value, indent, (holder, key, member) => {
    if (typeof member !== "string" || (key !== "data" && key !== "blob")) return member;
    const { mimeType, type } = holder;
    if (key === "data" && typeof mimeType !== "string" && type !== "image" && type !== "audio") return member;
    return bytesText(typeof mimeType === "string" ? mimeType : "application/octet-stream", member);
  });
}

/** Writes JSON. Never throws. If a value is nested too deeply, writes a note instead of the value. */
export function toJson(value: unknown, indent?: number, replace?: Replace): string {
  try {
    const replacer =
      replace &&
      function (this: { readonly [key: string]: unknown }, key: string, member: unknown): unknown {
        return replace(this, key, member);
      };
    return String(JSON.stringify(value, replacer, indent));
  } catch {
    return '"(nested too deeply to show)"';
  }
}

type Replace = (holder: { readonly [key: string]: unknown }, key: string, member: unknown) => unknown;

/** Describes a part of a result that is not text: `[image image/png, 1.2 kB]`. */
export function mediaText(mimeType: string, data: string): string {
  const [, kind = "resource"] = /^(image|audio)\//.exec(mimeType) ?? [];
  return bytesText(`${kind} ${mimeType}`, data);
}

/** Describes Base64 bytes: `[image/png, 1.2 kB]`. */
export function bytesText(type: string, data: string): string {
  const base64 = data === "" ? data : readBase64(data);
  return base64 === undefined ? `[${type}, not valid Base64]` : `[${type}, ${sizeWords(byteLength(base64))}]`;
}
