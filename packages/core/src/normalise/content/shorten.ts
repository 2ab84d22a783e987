/** Foreign text made short for a model: names on one line, long texts without their middle. */

import { clip } from "@fairlead/wire/text";
import { toModelText } from "../../text/model-text.ts";

const labelCharacters = 2000;

/** A name, a title or an address inside a sentence of ours. */
export function toLabel(text: string): string {
  const line = toModelText(text.slice(0, labelCharacters + 1)).replaceAll(/\s+/g, " ");
  return clip(line, labelCharacters);
}

/** The beginning and the end, `room` characters together; what the middle held is said between them. */
export function shorten(text: string, room: number): string {
  const head = wholeCharacters(text, Math.ceil(room * 0.75));
  const tail = wholeCharacters(text, text.length - (room - Math.ceil(room * 0.75)));
  const note = `[… ${characterWords(tail - head)} left out here …]`;
  return [text.slice(0, head), note, text.slice(tail)].filter((piece) => piece !== "").join("\n");
}

export function characterWords(count: number): string {
  return `${count} ${count === 1 ? "character" : "characters"}`;
}

/** The place itself, or the one before it if it would part the two halves of a character. */
function wholeCharacters(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
