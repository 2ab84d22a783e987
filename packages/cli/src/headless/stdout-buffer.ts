/** Buffers the model's text and releases whole lines: messages on stderr would otherwise split a line on a terminal. Pure. */

import { type SafeText, toSafeText } from "@fairlead/core/text/safe-text";
import type { TurnEvent } from "@fairlead/core/turn/events";

export interface StdoutBuffer {
  /** The unfinished last line. */
  readonly open: string;
  readonly hasSpoken: boolean;
  /** The model has called tools since its last text, so an empty line comes before the next text. */
  readonly isApart: boolean;
}

export const emptyBuffer: StdoutBuffer = { open: "", hasSpoken: false, isApart: false };

interface BufferedLines {
  readonly spoken: StdoutBuffer;
  /** Lines to print, without the final line break. */
  readonly lines?: SafeText;
}

export function addEvent(spoken: StdoutBuffer, event: TurnEvent): BufferedLines {
  switch (event.type) {
    case "text": {
      const text = `${spoken.open}${event.text}`;
      const end = text.lastIndexOf("\n");
      if (end === -1) return { spoken: { ...spoken, open: text } };
      return say(spoken, text.slice(0, end).replace(/\r$/, ""), text.slice(end + 1));
    }
    case "call": {
      if (event.status !== "requested") return { spoken };
      const { spoken: after, ...heard } = finish(spoken);
      return { ...heard, spoken: { ...after, isApart: after.hasSpoken } };
    }
    // A note comes between two requests, so the next text starts a new line.
    case "note":
    case "done":
    case "error":
      return finish(spoken);
    case "thought":
    case "progress":
    case "confirmation":
    case "quarantined":
    case "waiting":
    case "missing":
    case "retry":
    case "usage":
      return { spoken };
  }
}

/** Releases the unfinished line: answers seldom end with a line break. */
function finish(spoken: StdoutBuffer): BufferedLines {
  return spoken.open === "" ? { spoken } : say(spoken, spoken.open, "");
}

function say({ isApart }: StdoutBuffer, text: string, open: string): BufferedLines {
  return { spoken: { open, hasSpoken: true, isApart: false }, lines: toSafeText(isApart ? `\n${text}` : text) };
}
