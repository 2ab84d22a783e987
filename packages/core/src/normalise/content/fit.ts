/** Fits a result into what a model can take; whatever is left out is said in its place and handed back whole. */

import type { Block } from "@fairlead/wire";
import { toModelText } from "../../text/model-text.ts";
import { sizeWords } from "../../text/size-words.ts";
import type { Part } from "../model-types.ts";
import { byteLength } from "./base64.ts";
import { describeBlock, type Piece } from "./describe.ts";
import { toJson } from "./json-text.ts";
import { extensionOf, isAccepted } from "./media-type.ts";
import { characterWords, shorten } from "./shorten.ts";

export interface ContentLimits {
  /** Of one text, in characters. */
  readonly partCharacters: number;
  /** Of all texts together. */
  readonly totalCharacters: number;
  /** Of all media together: an API takes about twice that in a request, in Base64 and with everything else in it. */
  readonly inlineBytes: number;
  readonly blocks: number;
}

export const contentLimits: ContentLimits = {
  partCharacters: 100_000,
  totalCharacters: 200_000,
  inlineBytes: 10_000_000,
  blocks: 100,
};

/** Something of which the model gets a part or nothing: the whole of it. */
export interface LeftOut {
  /** In our words. */
  readonly what: string;
  readonly extension: string;
  readonly data: string;
  readonly encoding: "utf8" | "base64";
}

export interface Fitted {
  readonly parts: readonly Part[];
  readonly leftOut: readonly LeftOut[];
}

/** What is still free. */
interface Room {
  readonly part: number;
  characters: number;
  bytes: number;
}

/** @param giver How our sentences name whoever gave it: `Tool 'greet'`. */
export function fitBlocks(blocks: readonly Block[], giver: string, limits: ContentLimits): Fitted {
  const room: Room = { part: limits.partCharacters, characters: limits.totalCharacters, bytes: limits.inlineBytes };
  const fitted: Fitted[] = [];
  const rest: Block[] = [];
  for (const [index, block] of blocks.entries()) {
    const isMedia = block.type === "image" || block.type === "audio";
    if (index >= limits.blocks || (room.characters <= 0 && !isMedia)) rest.push(block);
    else fitted.push(...describeBlock(block, giver).map((piece) => fitPiece(piece, giver, room)));
  }
  if (rest.length > 0) fitted.push(replaced(rest));
  return { parts: fitted.flatMap(({ parts }) => parts), leftOut: fitted.flatMap(({ leftOut }) => leftOut) };
}

function fitPiece(piece: Piece, giver: string, room: Room): Fitted {
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
  return {
    parts: [{ text: toModelText(shorten(text, free)) }],
    leftOut: [{ what, extension: "txt", data: text, encoding: "utf8" }],
  };
}

function fitMedia({ what, type, data }: Extract<Piece, { kind: "media" }>, giver: string, room: Room): Fitted {
  const size = byteLength(data);
  if (isAccepted(type) && size <= room.bytes) {
    room.bytes -= size;
    const { parts } = said(`[${giver} provided the following ${what} with mime-type: ${type}]`, room);
    return { parts: [...parts, { inlineData: { mimeType: type, data } }], leftOut: [] };
  }
  const reason = isAccepted(type) ? "too much to be shown here" : "of a type that cannot be shown here";
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
