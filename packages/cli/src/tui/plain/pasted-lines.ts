/** Collects pasted lines in plain mode, so that they become one message, or calls that run one after the other. */

import type { Clock } from "@fairlead/core/clock";
import { splitTypedLines } from "@fairlead/core/request";
import { clip } from "@fairlead/wire/text";
import { looksLikeCall } from "../input/call-words.ts";
import type { AppState } from "../state/app-state.ts";

interface PastedLinesOptions {
  readonly clock: Clock;
  readonly get: () => AppState;
  readonly enter: (line: string) => void;
  /** Called with the reason if the pasted lines are refused. `enter` is then not called. */
  readonly refuse: (reason: string) => void;
}

/** A line that comes more than this many milliseconds after the previous line counts as typed, not pasted. */
const longestGap = 30;

/** Receives the lines that the user enters in plain mode. Passes lines that arrive together to `enter` as one text. */
export class PastedLines {
  readonly #options: PastedLinesOptions;
  #lines: string[] = [];
  #stopWaiting: (() => void) | undefined;

  constructor(options: PastedLinesOptions) {
    this.#options = options;
  }

  readonly add = (line: string): void => {
    this.#lines.push(line);
    this.#stopWaiting?.();
    this.#stopWaiting = this.#options.clock.after(longestGap, () => {
      // On a busy machine, more lines may have arrived that Node has not read yet. `setImmediate` lets Node read them.
      const last = setImmediate(this.flush);
      this.#stopWaiting = () => clearImmediate(last);
    });
  };

  /** Enters the collected lines at once, without waiting for more. */
  readonly flush = (): void => {
    const { get, enter, refuse } = this.#options;
    this.#stopWaiting?.();
    const together = this.#lines;
    this.#lines = [];
    const { questions, model, editor } = get();
    // Each line may answer another question or fill in another form field.
    if (together.length < 2 || questions.length > 0) {
      for (const line of together) enter(line);
      return;
    }
    const text = together.join("\n");
    const other = model.provider === "manual" ? notACall(editor.text + text) : undefined;
    const reason = `You pasted ${together.length} lines, and "${other}" is not a tool call, so nothing was run.`;
    if (other === undefined) enter(text);
    else refuse(`${reason} If a value has several lines, put it into quotes.`);
  };
}

const longestQuote = 40;

function notACall(text: string): string | undefined {
  const line = splitTypedLines(text).lines.find((one) => !one.startsWith("/") && !looksLikeCall(one));
  return line && clip(line, longestQuote);
}
