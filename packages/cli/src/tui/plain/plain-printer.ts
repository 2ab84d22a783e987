/** Prints the app's content in plain mode: finished items, running calls, questions and the prompt. */

import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Store } from "../session/store.ts";
import { type AppState, questionNumber } from "../state/app-state.ts";
import type { TranscriptItem } from "../state/transcript.ts";
import { dialogLines } from "../view/dialogs/dialog-frame.ts";
import type { Line } from "../view/line.ts";
import { linesOf } from "./item-text.ts";
import { plainText } from "./plain-line.ts";

interface PlainPrinter {
  readonly update: () => void;
  readonly entered: () => void;
}

interface PlainPrinterOptions extends Pick<Store, "get"> {
  /** Called with the key of the printed question, or with undefined if no question is open. */
  readonly onAsked: (question: string | undefined) => void;
  readonly write: (text: string) => void;
}

/** Creates the printer. It prints each item once, when the item is complete. */
export function createPlainPrinter({ get, onAsked, write }: PlainPrinterOptions): PlainPrinter {
  /** The number at the end of the last printed item's key. `/clear` does not reset these numbers. */
  let printed = 0;
  let isAtPrompt = false;
  let before: AppState | undefined;
  /** Calls that were already printed as running. */
  const begun = new Set<string>();

  function print(lines: readonly Line[]): void {
    if (isAtPrompt) write("\n");
    isAtPrompt = false;
    for (const line of lines) write(`${plainText(line)}\n`);
  }

  function printNews(state: AppState): void {
    const { items, settled, size } = state;
    for (const item of items.slice(0, settled)) {
      if (serialOf(item) <= printed) continue;
      // The user's own messages are not printed, because the terminal has already echoed them.
      if (item.kind !== "person") print(linesOf(item, size.columns));
      printed = serialOf(item);
    }
    for (const item of items.slice(settled)) {
      if (item.kind !== "call" || item.call.status !== "running" || begun.has(item.call.id)) continue;
      begun.add(item.call.id);
      // The first span of a running call's line is the spinner, which is not printed.
      print(
        linesOf(item, size.columns)
          .slice(0, 1)
          .map(([, ...line]) => line),
      );
    }
  }

  function update(): void {
    const state = get();
    printNews(state);
    const { turn, isQuitArmed, dialog, questions, isQuitting, focus } = state;
    const [question] = questions;
    if (turn.kind === "running" && before?.turn.kind !== "running")
      print([[{ text: safe`working; press Ctrl-C to stop` }]]);
    if (turn.kind === "running" && turn.doing !== undefined && turn !== before?.turn)
      print([[{ text: toSafeLine(turn.doing) }]]);
    if (isQuitArmed && before?.isQuitArmed !== true) print([[{ text: safe`Ctrl-C once more to quit` }]]);
    if (
      question !== undefined &&
      dialog !== undefined &&
      (dialog !== before?.dialog || question !== before.questions[0])
    ) {
      const room = { width: state.size.columns, height: state.size.rows };
      const hint = [{ text: hints[dialog.kind] }];
      print([...dialogLines(question, dialog, questionNumber(state), room), hint]);
    }
    before = state;
    onAsked(question?.key);
    const isFree = question === undefined ? turn.kind === "idle" : focus !== "unseen";
    if (isFree && !isAtPrompt && !isQuitting) {
      write(question === undefined || focus === "input" ? "> " : "answer> ");
      isAtPrompt = true;
    }
  }

  return {
    update,
    entered() {
      isAtPrompt = false;
    },
  };
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
