/** Buffers the model's text and releases whole lines: messages on stderr would otherwise split a line on a terminal. Pure. */

import { type SafeText, toSafeText } from "@fairlead/core/text/safe-text";
import type { TurnEvent } from "@fairlead/core/turn/events";

export interface StdoutBuffer {
  /** The unfinished last line. */
  readonly open: string;
  readonly hasText: boolean;
  /** The model has called tools since its last text, so an empty line comes before the next text. */
  readonly isApart: boolean;
}

export const emptyBuffer: StdoutBuffer = { open: "", hasText: false, isApart: false };

interface BufferedLines {
  readonly buffer: StdoutBuffer;
  /** Lines to print, without the final line break. */
  readonly lines?: SafeText;
}

export function addEvent(buffer: StdoutBuffer, event: TurnEvent): BufferedLines {
  switch (event.type) {
    case "text": {
      const text = `${buffer.open}${event.text}`;
      const end = text.lastIndexOf("\n");
      if (end === -1) return { buffer: { ...buffer, open: text } };
      return say(buffer, text.slice(0, end).replace(/\r$/, ""), text.slice(end + 1));
    }
    case "call": {
      if (event.status !== "requested") return { buffer };
      const { buffer: after, ...heard } = finish(buffer);
      return { ...heard, buffer: { ...after, isApart: after.hasText } };
    }
    // A note comes between two requests, so the next text starts a new line.
    case "note":
    case "done":
    case "error":
      return finish(buffer);
    case "thought":
    case "progress":
    case "confirmation":
    case "quarantined":
    case "waiting":
    case "missing":
    case "retry":
    case "usage":
      return { buffer };
  }
}

/** Releases the unfinished line: answers seldom end with a line break. */
function finish(buffer: StdoutBuffer): BufferedLines {
  return buffer.open === "" ? { buffer } : say(buffer, buffer.open, "");
}

function say({ isApart }: StdoutBuffer, text: string, open: string): BufferedLines {
  return { buffer: { open, hasText: true, isApart: false }, lines: toSafeText(isApart ? `\n${text}` : text) };
}
