/** What the model says, for stdout, line by line: half a line would be torn by whatever stderr says meanwhile. Pure. */

import { type SafeText, toSafeText } from "@fairlead/core/text/safe-text";
import type { TurnEvent } from "@fairlead/core/turn/events";

export interface StdoutBuffer {
  /** A line that has not come to its end. */
  readonly open: string;
  readonly hasSpoken: boolean;
  /** The model has used its tools since: what it says next stands apart from what it said before. */
  readonly isApart: boolean;
}

export const emptyBuffer: StdoutBuffer = { open: "", hasSpoken: false, isApart: false };

interface BufferedLines {
  readonly spoken: StdoutBuffer;
  /** Whole lines to print, without the end of the last one. */
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
    // Told between requests: what follows is another attempt.
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

/** The last line of an answer seldom has an end of its own. */
function finish(spoken: StdoutBuffer): BufferedLines {
  return spoken.open === "" ? { spoken } : say(spoken, spoken.open, "");
}

function say({ isApart }: StdoutBuffer, text: string, open: string): BufferedLines {
  return { spoken: { open, hasSpoken: true, isApart: false }, lines: toSafeText(isApart ? `\n${text}` : text) };
}
