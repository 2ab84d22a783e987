/** Prints the app's content in plain mode: finished items, running calls, questions and the prompt. */

import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Store } from "../session/store.ts";
import { type AppState, questionNumber } from "../state/app-state.ts";
import type { TranscriptItem } from "../state/transcript.ts";
import { dialogLines } from "../view/dialogs/dialog-frame.ts";
import type { Line } from "../view/line.ts";
import { linesOf, plainText } from "./plain-text.ts";

interface PlainPrinterOptions extends Pick<Store, "get"> {
  /** Called with the key of the printed question, or with undefined if no question is open. */
  readonly onAsked: (question: string | undefined) => void;
  readonly write: (text: string) => void;
}

/** Prints each item once, when the item is complete. */
export class PlainPrinter {
  readonly #options: PlainPrinterOptions;
  /** The number at the end of the last printed item's key. `/clear` does not reset these numbers. */
  #printed = 0;
  #isAtPrompt = false;
  #before: AppState | undefined;
  /** Calls that were already printed as running. */
  readonly #begun = new Set<string>();

  constructor(options: PlainPrinterOptions) {
    this.#options = options;
  }

  /** The user has entered a line, so the cursor is no longer behind the prompt. */
  entered(): void {
    this.#isAtPrompt = false;
  }

  update(): void {
    const { get, onAsked, write } = this.#options;
    const state = get();
    const before = this.#before;
    this.#printNews(state);
    const { turn, isQuitArmed, dialog, questions, isQuitting, focus } = state;
    const [question] = questions;
    if (turn.kind === "running" && before?.turn.kind !== "running")
      this.#print([[{ text: safe`working; press Ctrl-C to stop` }]]);
    if (turn.kind === "running" && turn.doing !== undefined && turn !== before?.turn)
      this.#print([[{ text: toSafeLine(turn.doing) }]]);
    if (isQuitArmed && before?.isQuitArmed !== true) this.#print([[{ text: safe`Ctrl-C once more to quit` }]]);
    const isNew = dialog !== before?.dialog || question !== before?.questions[0];
    if (question !== undefined && dialog !== undefined && isNew) {
      const room = { width: state.size.columns, height: state.size.rows };
      const hint = [{ text: hints[dialog.kind] }];
      this.#print([...dialogLines(question, dialog, questionNumber(state), room), hint]);
    }
    this.#before = state;
    onAsked(question?.key);
    const isFree = question === undefined ? turn.kind === "idle" : focus !== "unseen";
    if (isFree && !this.#isAtPrompt && !isQuitting) {
      write(question === undefined || focus === "input" ? "> " : "answer> ");
      this.#isAtPrompt = true;
    }
  }

  #printNews({ items, settled, size }: AppState): void {
    for (const item of items.slice(0, settled)) {
      if (serialOf(item) <= this.#printed) continue;
      // The user's own messages are not printed, because the terminal has already echoed them.
      if (item.kind !== "person") this.#print(linesOf(item, size.columns));
      this.#printed = serialOf(item);
    }
    for (const item of items.slice(settled)) {
      if (item.kind !== "call" || item.call.status !== "running" || this.#begun.has(item.call.id)) continue;
      this.#begun.add(item.call.id);
      // The first span of a running call's line is the spinner, which is not printed.
      const [[, ...headline] = []] = linesOf(item, size.columns);
      this.#print([headline]);
    }
  }

  #print(lines: readonly Line[]): void {
    const { write } = this.#options;
    if (this.#isAtPrompt) write("\n");
    this.#isAtPrompt = false;
    for (const line of lines) write(`${plainText(line)}\n`);
  }
}

/** How to answer each kind of question by entering a line. */
const hints: Readonly<Record<NonNullable<AppState["dialog"]>["kind"], SafeText>> = {
  read: safe`Type one of the letters, then press Enter; an empty line means no.`,
  form: safe`Type a value for the marked field. An empty line keeps the current value; after the last field, an empty line sends the form. Type "-" to decline or "." to cancel; for these characters as a value, type "\\-" or "\\.".`,
  typed: safe`Type or paste the text, then press Enter; an empty line cancels.`,
  chosen: safe`Type the number of an option, counted from 1, then press Enter; an empty line takes the marked one, 0 takes none.`,
};

function serialOf({ key }: TranscriptItem): number {
  return Number(key.slice(key.lastIndexOf("-") + 1));
}
