/**
 * `fairlead --plain`: runs the app line by line, without moving the cursor. Prints each item once, when it is complete.
 */

import { createInterface } from "node:readline";
import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust/configuration";
import type { Context } from "../shell/verb.ts";
import type { Key } from "./input/keys.ts";
import { createQuestionGuard } from "./input/question-guard.ts";
import { linesOf } from "./plain/item-text.ts";
import { createLateLine, lineSteps } from "./plain/line-steps.ts";
import { createPastedLines } from "./plain/pasted-lines.ts";
import { plainText } from "./plain/plain-line.ts";
import { openAppSession } from "./session/open-session.ts";
import type { Store } from "./session/store.ts";
import { type AppState, questionNumber } from "./state/app-state.ts";
import type { TranscriptItem } from "./state/transcript.ts";
import { dialogLines } from "./view/dialogs/dialog-frame.ts";
import type { Line } from "./view/line.ts";

const ctrlC: Key = { name: "text", text: "c", ctrl: true };
/** The number of screen rows in plain mode: so high that nothing is cut. */
const endless = 1_000_000;

/** Runs the app in plain mode. Resolves when the user quits. */
export async function runPlain(context: Context, configuration: Configuration): Promise<void> {
  const { stdin, stdout, signal, takeInterrupts } = context.io;
  // Ctrl-C may have been pressed before the app was ready.
  signal.throwIfAborted();
  let leave: (() => void) | undefined;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const { session, close } = openAppSession(context, configuration, {
    size: { columns: stdout.columns ?? 80, rows: endless },
    hasScreen: false,
    writeTerminal: (sequence) => void stdout.write(sequence),
    onQuit: () => leave?.(),
    onRedraw: () => {},
  });
  const { get, subscribe, dispatch } = session.store;
  const { press, clock } = session;
  const guard = createQuestionGuard({ get, dispatch, press, clock });
  const printer = createPlainPrinter({ get, onAsked: guard.drawn, write: (text) => void stdout.write(text) });
  const late = createLateLine({ get, clock });
  const stopListening = subscribe(() => {
    late.look();
    printer.update();
  });
  const giveBack = takeInterrupts?.(() => session.press(ctrlC));
  const quit = (): void => session.quit();
  signal.addEventListener("abort", quit, { once: true });
  const lines = createInterface({ input: stdin, terminal: false });
  const enter = (line: string): void => {
    printer.entered();
    const isLate = late.isLate();
    if (isLate) session.note("warning", "The question has closed: this line was not sent.");
    for (const step of isLate ? [] : lineSteps(get(), line)) {
      if ("key" in step) press(step.key);
      else dispatch(step.event);
    }
    // Plain mode has no Tab key: after a sent message, the next line answers the question.
    if (get().editor.text === "") dispatch({ type: "focus", focus: "dialog" });
    late.read();
    printer.update();
  };
  const pasted = createPastedLines({ enter, refuse: (text) => session.note("warning", text), get, clock });
  // Lines of a file or a pipe are entered one by one; on a terminal, lines that arrive together were pasted.
  lines.on("line", stdin.isTTY ? pasted.add : enter);
  lines.once("close", () => {
    pasted.flush();
    quit();
  });
  try {
    printer.update();
    await left;
  } finally {
    stopListening();
    guard.end();
    giveBack?.();
    signal.removeEventListener("abort", quit);
    lines.close();
    stdin.pause();
    await close();
  }
  signal.throwIfAborted();
}

/** Prints the transcript as lines: each item once, when it is complete. */
interface PlainPrinter {
  readonly update: () => void;
  readonly entered: () => void;
}

interface PlainPrinterOptions extends Pick<Store, "get"> {
  /** Called with the key of the question that was printed; undefined if no question is open. */
  readonly onAsked: (question: string | undefined) => void;
  readonly write: (text: string) => void;
}

function createPlainPrinter({ get, onAsked, write }: PlainPrinterOptions): PlainPrinter {
  /** The number of the last printed item. Numbers only grow; after `/clear`, items start again. */
  let printed = 0;
  let isAtPrompt = false;
  let before: AppState | undefined;
  /** Ids of the calls that were printed as running. */
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
      // The spinner is left out.
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
    // Input that arrived before the user could read the question does not answer it.
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

/** How to answer each kind of question with a line. The keys named in a question's frame work only on a screen. */
const hints: Readonly<Record<NonNullable<AppState["dialog"]>["kind"], SafeText>> = {
  read: safe`Type one of the letters, then press Enter; an empty line means no.`,
  form: safe`Type a value for the marked field, or an empty line to keep it; after the last field, an empty line sends the form. - declines, . cancels; \\- and \\. enter these characters.`,
  typed: safe`Type or paste the text, then press Enter; an empty line cancels.`,
  chosen: safe`Type a number, starting at 1; an empty line chooses none.`,
};

function serialOf({ key }: TranscriptItem): number {
  return Number(key.slice(key.lastIndexOf("-") + 1));
}
