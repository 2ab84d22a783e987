/** Splits a content block into the pieces that a model is told, in order. */

import type { Block, ResourceContents } from "@fairlead/wire";
import { readBase64 } from "./base64.ts";
import { toReadableJson } from "./json-text.ts";
import { isTextual, toMediaType } from "./media-type.ts";
import { toLabel } from "./shorten.ts";

/** One piece of a content block. */
export type ContentPiece =
  /** A short text of Fairlead's own. */
  | { readonly kind: "sentence"; readonly text: string }
  /** A text of the server, unchanged. */
  | { readonly kind: "text"; readonly text: string }
  /** Bytes in valid Base64; `what` is a noun. */
  | { readonly kind: "media"; readonly what: string; readonly type: string; readonly data: string };

/**
 * Splits a block into pieces.
 *
 * @param giver The name of the source in Fairlead's own texts.
 */
export function describeBlock(block: Block, giver: string): ContentPiece[] {
  switch (block.type) {
    case "text":
      return [{ kind: "text", text: block.text }];
    case "image":
    case "audio":
      return [media(`${block.type} data`, toMediaType(block.mimeType), block.data, giver)];
    case "resource":
      return resource(block.resource, giver);
    case "resource_link":
      return [sentence(`Resource Link: ${toLabel(block.title || block.name)} at ${toLabel(block.uri)}`)];
    case "unknown":
      return [
        sentence(`[${giver} provided content of an unknown kind, here as JSON]`),
        { kind: "text", text: toReadableJson(block.raw) },
      ];
  }
}

function resource({ uri, mimeType = "", text, blob }: ResourceContents, giver: string): ContentPiece[] {
  if (text !== undefined) return textResource(uri, text, giver);
  if (blob === undefined)
    return [sentence(`[${giver} provided the embedded resource ${toLabel(uri)} without contents]`)];
  const type = toMediaType(mimeType);
  const decoded = isTextual(type) ? decodeText(blob) : undefined;
  return decoded === undefined ? [media("embedded resource", type, blob, giver)] : textResource(uri, decoded, giver);
}

function textResource(uri: string, text: string, giver: string): ContentPiece[] {
  return [sentence(`[${giver} provided the following embedded resource: ${toLabel(uri)}]`), { kind: "text", text }];
}

function media(what: string, type: string, given: string, giver: string): ContentPiece {
  const data = readBase64(given);
  return data === undefined
    ? sentence(`[${giver} provided ${what} with mime-type: ${type}, but not as valid Base64]`)
    : { kind: "media", what, type, data };
}

function sentence(text: string): ContentPiece {
  return { kind: "sentence", text };
}

function decodeText(blob: string): string | undefined {
  const data = readBase64(blob);
  if (data === undefined) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(data, "base64"));
  } catch {
    // Another encoding, or not text: the caller treats it as bytes.
    return undefined;
  }
}
