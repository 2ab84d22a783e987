/** Splits calls into the pieces in which they arrive. Servers differ, and a client must be able to join all forms. */

import type { OpenaiSettings } from "./settings.ts";

export interface CallToWrite {
  readonly id: string;
  readonly name: string;
  /** The arguments of the call, as text. */
  readonly text: string;
}

export function deltasOf(calls: readonly CallToWrite[], settings: OpenaiSettings): object[] {
  const pieces = (call: CallToWrite, index: number) => inPieces(call, index, settings.charactersPerPiece);
  switch (settings.callDeltas) {
    case "pieces":
      return calls.flatMap(pieces);
    case "whole":
      return calls.map((call, index) => whole(call, index));
    case "same-index":
      return calls.map((call) => whole(call, 0));
    case "interleaved":
      return interleave(calls.map(pieces));
  }
}

function whole({ id, name, text }: CallToWrite, index: number): object {
  return { index, id, type: "function", function: { name, arguments: text } };
}

function inPieces(call: CallToWrite, index: number, characters: number): object[] {
  const count = Math.ceil(call.text.length / characters);
  return [
    whole({ ...call, text: "" }, index),
    ...Array.from({ length: count }, (_, at) => ({
      index,
      function: { arguments: call.text.slice(at * characters, (at + 1) * characters) },
    })),
  ];
}

function interleave(lists: readonly object[][]): object[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list[at] ?? [])).flat();
}
