/** Shortens servers' texts for a model: names become one line, and long texts lose their middle. */

import { clip } from "@fairlead/wire/text";
import { toModelText } from "../../text/model-text.ts";

const labelCharacters = 2000;

/** Shortens a name, a title or a URI for use inside a sentence. */
export function toLabel(text: string): string {
  const line = toModelText(text.slice(0, labelCharacters + 1)).replaceAll(/\s+/g, " ");
  return clip(line, labelCharacters);
}

/** The share of a shortened text that comes from the beginning of the full text. The rest comes from its end. */
export const headShare = 0.75;

/** Keeps the beginning and the end of a text, with a note between them. `room` is the number of characters to keep. */
export function shorten(text: string, room: number): string {
  const head = wholeCharacters(text, Math.ceil(room * headShare));
  const tail = wholeCharacters(text, text.length - (room - Math.ceil(room * headShare)));
  const note = `[… ${characterWords(tail - head)} left out here …]`;
  return [text.slice(0, head), note, text.slice(tail)].filter((piece) => piece !== "").join("\n");
}

/** A number with its noun: "1 character", "5 characters". */
export function characterWords(count: number): string {
  return `${count} ${count === 1 ? "character" : "characters"}`;
}

/** Moves a position back by one character if it lies inside a surrogate pair. */
export function wholeCharacters(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
