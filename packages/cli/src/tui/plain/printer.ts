/** Prints the transcript as lines: each item once, when it is complete. */

import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Store } from "../session/store.ts";
import { type AppState, questionNumber } from "../state/app-state.ts";
import type { TranscriptItem } from "../state/transcript.ts";
import { callCardLines } from "../view/call-card-lines.ts";
import { dialogLines } from "../view/dialogs/dialog-frame.ts";
import { itemLines } from "../view/item-lines.ts";
import type { Line } from "../view/line.ts";
import { markdownLines } from "../view/markdown/markdown-lines.ts";

export interface PlainPrinter {
  readonly update: () => void;
  readonly entered: () => void;
}

export interface PlainPrinterOptions extends Pick<Store, "get"> {
  /** Called with the question that is printed, if any. */
  readonly onAsked: (question: string | undefined) => void;
  readonly write: (text: string) => void;
}

export function createPlainPrinter({ get, onAsked, write }: PlainPrinterOptions): PlainPrinter {
  let printed = 0;
  let isAtPrompt = false;
  let before: AppState | undefined;
  /** Calls that were printed as running. */
  const begun = new Set<string>();

  function print(lines: readonly Line[]): void {
    if (isAtPrompt) write("\n");
    isAtPrompt = false;
    for (const line of lines)
      write(
        `${line
          .map(({ text }) => text)
          .join("")
          .trimEnd()}\n`,
      );
  }

  function printNews(state: AppState): void {
    const { items, settled, size } = state;
    for (const item of items.slice(printed, settled)) {
      // The terminal has echoed what the user typed.
      if (item.kind !== "person") print(linesOf(item, size.columns));
    }
    printed = settled;
    for (const item of items.slice(settled)) {
      if (item.kind !== "call" || item.call.status !== "running" || begun.has(item.call.id)) continue;
      begun.add(item.call.id);
      // Without the spinner.
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
    if (turn.kind === "running" && before?.turn.kind !== "running") print([[{ text: safe`working; Ctrl-C stops it` }]]);
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
    // Input before a question could be read does not answer it.
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

/** How to answer in lines; the keys in the frame are for a screen. */
const hints: Readonly<Record<NonNullable<AppState["dialog"]>["kind"], SafeText>> = {
  read: safe`Type one of the letters, then Enter; an empty line means no.`,
  form: safe`Type a value for the marked field, or an empty line to keep it; after the last field, an empty line sends the form. - declines, . cancels; \\- and \\. enter these characters.`,
  typed: safe`Type or paste it, then Enter; an empty line cancels.`,
  chosen: safe`Type a number, starting at 1; an empty line chooses none.`,
};

function linesOf(item: TranscriptItem, width: number): readonly Line[] {
  if (item.kind === "answer") return markdownLines(item.text, width);
  // The time is not shown, because nothing is drawn again.
  return item.kind === "call" ? callCardLines(item.call, item.call.startedAt ?? 0, width) : itemLines(item, width);
}
