/**
 * Lets keys answer a question only after the user has had time to see it. Ignores keys for a moment if a question
 * closes while the user types into it.
 */

import type { Clock } from "@fairlead/core/clock";
import type { AppEvent, AppState } from "../state/app-state.ts";
import { takesText } from "../state/dialog.ts";
import type { Key } from "./keys.ts";

/** The app's state, and `press`, which handles the keys that the guard lets through. */
export interface QuestionGuardOptions {
  readonly get: () => AppState;
  readonly dispatch: (event: AppEvent) => void;
  readonly press: (key: Key) => void;
  readonly clock: Clock;
}

/** Receives all keys of the app, and ignores those that the user typed for a question that has closed. */
export interface QuestionGuard {
  readonly press: (key: Key) => void;
  /** Call this after each frame is written, with the key of the question in that frame. */
  readonly drawn: (question: string | undefined) => void;
  /**
   * Call this after each change of the app's state. Checks whether the question that the user was answering has closed.
   */
  readonly look: () => void;
  readonly end: () => void;
}

/** Milliseconds that a question must be visible before a key can answer it. */
const readingTime = 400;
/**
 * If a question closes while the user types into it, keys are ignored until the user pauses for this many milliseconds,
 * or presses Enter or Escape.
 */
const pause = 1000;

/** Creates the guard. Call its `end` when the app ends, to cancel the timers. */
export function createQuestionGuard({ get, dispatch, press, clock }: QuestionGuardOptions): QuestionGuard {
  let shown: string | undefined;
  let callOffReading: (() => void) | undefined;
  let typedInto: string | undefined;
  /** Cancels the timer after which keys work again. Set only while keys are ignored. */
  let callOffPause: (() => void) | undefined;

  /** Each key press starts the reading time again, because a user who types does not read. */
  function startReading(question: string): void {
    callOffReading?.();
    callOffReading = clock.after(readingTime, () => dispatch({ type: "drawn", key: question }), { background: true });
  }

  function startPause(): void {
    callOffPause?.();
    callOffPause = clock.after(pause, endPause, { background: true });
  }

  function endPause(): void {
    callOffPause?.();
    callOffPause = undefined;
  }

  function look(): void {
    const { questions, isQuitting } = get();
    if (typedInto === undefined || questions[0]?.key === typedInto) return;
    typedInto = undefined;
    if (isQuitting) return;
    startPause();
    const text = "The question has closed, and the text that you typed into it is lost. Wait a second before you type.";
    dispatch({ type: "note", tone: "warning", text });
  }

  return {
    look,
    drawn(question) {
      if (question === shown) return;
      shown = question;
      callOffReading?.();
      if (question !== undefined) startReading(question);
    },
    press(key) {
      look();
      if (callOffPause !== undefined && !isCtrlC(key)) {
        if (key.name === "enter" || key.name === "escape") endPause();
        else startPause();
        return;
      }
      const before = get();
      press(key);
      const { questions, focus, dialog } = get();
      const [question] = questions;
      if (focus === "unseen" && shown !== undefined && question?.key === shown) startReading(shown);
      const isTyping =
        question !== undefined &&
        dialog !== undefined &&
        takesText(dialog) &&
        before.focus === "dialog" &&
        focus === "dialog";
      typedInto = isTyping && question.key === before.questions[0]?.key ? question.key : undefined;
    },
    end() {
      callOffReading?.();
      endPause();
    },
  };
}

function isCtrlC({ name, text, ctrl }: Key): boolean {
  return name === "text" && ctrl === true && text === "c";
}
