/** Detects lines that were pasted together. They are one message, or calls that run one after the other. */

import type { Clock } from "@fairlead/core/clock";
import { splitTypedLines } from "@fairlead/core/resources/typed-lines";
import { clip } from "@fairlead/wire/text";
import { looksLikeCall } from "../input/typed-call.ts";
import type { AppState } from "../state/app-state.ts";

export interface PastedLines {
  readonly add: (line: string) => void;
  /** Enters the collected lines at once, without waiting for more. */
  readonly flush: () => void;
}

interface PastedLinesOptions {
  readonly clock: Clock;
  readonly get: () => AppState;
  readonly enter: (line: string) => void;
  /** Called with the reason if the pasted lines are refused. `enter` is then not called. */
  readonly refuse: (reason: string) => void;
}

/** Maximum milliseconds between two pasted lines. A line that comes later counts as typed. */
const longestGap = 30;

export function createPastedLines({ clock, get, enter, refuse }: PastedLinesOptions): PastedLines {
  let lines: string[] = [];
  let stopWaiting: (() => void) | undefined;

  function flush(): void {
    stopWaiting?.();
    const together = lines;
    lines = [];
    const { questions, model, editor } = get();
    // While a question is open, each line answers one question or fills in one field of a form.
    if (together.length < 2 || questions.length > 0) {
      together.forEach(enter);
      return;
    }
    const text = together.join("\n");
    const other = model.provider === "manual" ? notACall(editor.text + text) : undefined;
    if (other === undefined) enter(text);
    else {
      const reason = `${together.length} lines were pasted and "${other}" is not a call: nothing was run.`;
      refuse(`${reason} Put a value that has several lines into quotes.`);
    }
  }

  return {
    add(line) {
      lines.push(line);
      stopWaiting?.();
      stopWaiting = clock.after(longestGap, () => {
        // `setImmediate` lets Node read lines that have arrived but were not read yet, for example on a busy machine.
        const last = setImmediate(flush);
        stopWaiting = () => clearImmediate(last);
      });
    },
    flush,
  };
}

const longestQuote = 40;

/** Returns the first line that is neither a call nor a slash command. */
function notACall(text: string): string | undefined {
  const line = splitTypedLines(text).lines.find((one) => !one.startsWith("/") && !looksLikeCall(one));
  return line && clip(line, longestQuote);
}
