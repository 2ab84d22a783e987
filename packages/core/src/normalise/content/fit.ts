/** Shortens a tool's result to the size limits of a model. A note replaces everything that is left out. */

import type { Block, ResourceContents } from "@fairlead/wire";
import { isObject, parseJson } from "@fairlead/wire/json";
import { toModelText } from "../../text/model-text.ts";
import { sizeWords } from "../../text/size-words.ts";
import { estimateTokens, exceedsTokens } from "../../text/token-estimate.ts";
import type { Part } from "../model-types.ts";
import { toJson, toReadableJson } from "./json-text.ts";
import { byteLength, extensionOf, isAccepted, isTextual, readBase64, toMediaType } from "./media-type.ts";
import { characterWords, headShare, shorten, toLabel } from "./shorten.ts";

/** Size limits for the part of a tool's result that a model gets. */
export interface ContentLimits {
  /** Maximum characters of one text. */
  readonly partCharacters: number;
  /** Maximum characters of all texts together. */
  readonly totalCharacters: number;
  /** Maximum bytes of all media together. The request to the model's API needs about twice as many bytes. */
  readonly inlineBytes: number;
  /** Blocks after this position are left out, except images and audio. Of these, at most this many are kept. */
  readonly blocks: number;
  /** Maximum tokens of all texts together. If the texts have more, the model gets short previews. Default: no limit. */
  readonly tokens?: number;
}

/** The default size limits for a tool's result. */
export const contentLimits: ContentLimits = {
  partCharacters: 100_000,
  totalCharacters: 200_000,
  inlineBytes: 10_000_000,
  blocks: 100,
};

/** The full content of a block that the model gets only in part or not at all. */
export interface LeftOut {
  /** Fairlead's description of the content. */
  readonly what: string;
  readonly extension: string;
  readonly data: string;
  readonly encoding: "utf8" | "base64";
}

/** The parts for the model, and the contents of blocks that were left out. */
export interface Fitted {
  readonly parts: readonly Part[];
  readonly leftOut: readonly LeftOut[];
}

interface Room {
  readonly part: number;
  /**
   * Maximum tokens of the preview of a text that is too large. If undefined, Fairlead leaves out only the middle of the
   * text.
   */
  readonly previewTokens?: number;
  characters: number;
  bytes: number;
}

/** The largest number of characters and tokens that all previews of one result may have together. */
const preview = { characters: 4_000, tokens: 1_200 };
/**
 * A preview keeps at least this many characters from the beginning of a text, if there is room, because an error
 * message stands there.
 */
const shortestHead = 2_000;

/**
 * Fits blocks into the limits. @param giver Names the source of the blocks in notes for the model, such as `Tool
 * 'greet'`.
 */
export function fitBlocks(blocks: readonly Block[], giver: string, limits: ContentLimits): Fitted {
  const pieces = blocks.slice(0, limits.blocks).map((block) => describeBlock(block, giver));
  const room = roomFor(pieces.flat(), limits);
  const fitted: Fitted[] = [];
  const rest: Block[] = [];
  let media = 0;
  for (const [index, block] of blocks.entries()) {
    const isMedia = block.type === "image" || block.type === "audio";
    const isRoom = isMedia ? media < limits.blocks : index < limits.blocks && room.characters > 0;
    if (isMedia) media += 1;
    if (!isRoom) rest.push(block);
    else for (const piece of pieces[index] ?? describeBlock(block, giver)) fitted.push(fitPiece(piece, giver, room));
  }
  if (rest.length > 0) fitted.push(replaced(rest));
  return { parts: fitted.flatMap(({ parts }) => parts), leftOut: fitted.flatMap(({ leftOut }) => leftOut) };
}

function roomFor(pieces: readonly ContentPiece[], limits: ContentLimits): Room {
  const { partCharacters, totalCharacters, inlineBytes: bytes, tokens } = limits;
  const texts = pieces.flatMap((piece) => (piece.kind === "text" ? piece.text : []));
  if (tokens === undefined || !exceedsTokens(texts, tokens))
    return { part: partCharacters, characters: totalCharacters, bytes };
  return { part: preview.characters, previewTokens: preview.tokens, characters: preview.characters, bytes };
}

function fitPiece(piece: ContentPiece, giver: string, room: Room): Fitted {
  switch (piece.kind) {
    case "sentence":
      return said(piece.text, room);
    case "text":
      return fitText(piece.text, room);
    case "media":
      return fitMedia(piece, giver, room);
  }
}

function said(text: string, room: Room): Fitted {
  room.characters -= text.length;
  return { parts: [{ text }], leftOut: [] };
}

function fitText(text: string, room: Room): Fitted {
  const free = Math.max(0, Math.min(room.part, room.characters));
  room.characters -= Math.min(text.length, free);
  if (text.length <= free) return { parts: [{ text: toModelText(text) }], leftOut: [] };
  const what = `a text of ${characterWords(text.length)}`;
  const { previewTokens: tokens } = room;
  const shown =
    tokens === undefined
      ? { text: shorten(text, free), isJson: false }
      : previewText(text, { characters: free, tokens, atLeast: Math.min(free, Math.ceil(shortestHead / headShare)) });
  return {
    parts: [{ text: toModelText(shown.text) }],
    leftOut: [{ what, extension: shown.isJson ? "json" : "txt", data: text, encoding: "utf8" }],
  };
}

function fitMedia({ what, type, data }: Extract<ContentPiece, { kind: "media" }>, giver: string, room: Room): Fitted {
  const size = byteLength(data);
  if (isAccepted(type) && size <= room.bytes) {
    room.bytes -= size;
    const { parts } = said(`[${giver} provided the following ${what} with mime-type: ${type}]`, room);
    return { parts: [...parts, { inlineData: { mimeType: type, data } }], leftOut: [] };
  }
  const reason = isAccepted(type) ? "too much to be shown here" : "of a type that is not supported here";
  const { parts } = said(`[${giver} provided ${what} with mime-type: ${type} (${sizeWords(size)}), ${reason}]`, room);
  const kept = `${type}, ${sizeWords(size)}`;
  return { parts, leftOut: [{ what: kept, extension: extensionOf(type), data, encoding: "base64" }] };
}

function replaced(blocks: readonly Block[]): Fitted {
  const what = `${blocks.length} more ${blocks.length === 1 ? "block" : "blocks"} of content`;
  return {
    parts: [{ text: `[… ${what} left out here …]` }],
    leftOut: [{ what, extension: "json", data: toJson(blocks, 2), encoding: "utf8" }],
  };
}

/** One of the pieces into which a content block is split. The model gets the pieces in order. */
type ContentPiece =
  /** A short text that Fairlead wrote. */
  | { readonly kind: "sentence"; readonly text: string }
  /** An unchanged text from the server. */
  | { readonly kind: "text"; readonly text: string }
  /** Bytes in valid Base64. `what` is a word for the kind of bytes, such as "image". */
  | { readonly kind: "media"; readonly what: string; readonly type: string; readonly data: string };

/** Splits a block into pieces. @param giver Names the source of the block in notes for the model. */
function describeBlock(block: Block, giver: string): ContentPiece[] {
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
    return undefined;
  }
}

/** Maximum characters of a text that Fairlead parses as JSON to describe its structure. */
const mostParsed = 10_000_000;
const longestShape = 1_200;
const mostKeys = 20;
const deepest = 4;

/**
 * Returns the preview, and whether the text is JSON. `characters` and `tokens` limit the beginning and the end together.
 * The preview contains at least `atLeast` characters of the text, even if they have more tokens than `tokens`.
 */
function previewText(
  text: string,
  { characters, tokens, atLeast }: Readonly<Record<"characters" | "tokens" | "atLeast", number>>,
): { readonly text: string; readonly isJson: boolean } {
  const shape = jsonShape(text);
  let room = characters;
  while (room > atLeast && estimateTokens(shorten(text, room)) > tokens)
    room = Math.max(atLeast, Math.floor(room * 0.8));
  const size = `${characterWords(text.length)}${shape === undefined ? "" : `, JSON: ${shape}`}`;
  return { text: `[${size}]\n${shorten(text, room)}`, isJson: shape !== undefined };
}

/** The keys, types and lengths in a JSON text. Undefined if the text is not JSON. */
function jsonShape(text: string): string | undefined {
  if (text.length > mostParsed || !/^\s*[[{]/.test(text.slice(0, 1_000))) return undefined;
  const value = parseJson(text);
  return value === undefined ? undefined : toLabel(shapeOf(value, 1)).slice(0, longestShape);
}

function shapeOf(value: unknown, depth: number): string {
  if (Array.isArray(value)) {
    const first: unknown = value[0];
    return value.length === 0 ? "[]" : `[${value.length} × ${depth < deepest ? shapeOf(first, depth + 1) : "…"}]`;
  }
  if (!isObject(value)) return value === null ? "null" : typeof value;
  const keys = Object.keys(value);
  const shown = keys.slice(0, mostKeys).map((key) => {
    const shape = depth < deepest ? shapeOf(value[key], depth + 1) : "…";
    return `${key.slice(0, 60)}: ${shape}`;
  });
  const more = keys.length > shown.length ? [`${keys.length - shown.length} more keys`] : [];
  return `{${[...shown, ...more].join(", ")}}`;
}
