/** Ignores keys that the user did not mean for a question, because the question has just appeared or just closed. */

import type { Clock } from "@fairlead/core/clock";
import type { AppEvent, AppState } from "../state/app-state.ts";
import { takesText } from "../state/dialog.ts";
import type { Key } from "./keys.ts";

export interface QuestionGuardOptions {
  readonly get: () => AppState;
  readonly dispatch: (event: AppEvent) => void;
  readonly press: (key: Key) => void;
  readonly clock: Clock;
}

export interface QuestionGuard {
  readonly press: (key: Key) => void;
  /** Call this after each drawn frame, with the identifier of the question in that frame. */
  readonly drawn: (question: string | undefined) => void;
  /**
   * Checks whether the question that the user types into has closed. Call this after each change of the app's state.
   */
  readonly look: () => void;
  readonly end: () => void;
}

/** Milliseconds that a question must be visible before a key can answer it. */
const readingTime = 400;
/**
 * If a question closes while the user types into it, keys are ignored until none arrives for this many milliseconds.
 */
const pause = 1000;

export function createQuestionGuard({ get, dispatch, press, clock }: QuestionGuardOptions): QuestionGuard {
  /** The identifier of the question on the screen. */
  let shown: string | undefined;
  let callOffReading: (() => void) | undefined;
  /** The identifier of the question that the user types into. */
  let typedInto: string | undefined;
  /** Cancels the timer that calls `endPause`. Set only while keys are ignored. */
  let callOffPause: (() => void) | undefined;

  /**
   * Starts the time in which the user can read the question. Each key press starts this time again, because a user who
   * is typing is not reading.
   */
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
    const text = "The question has closed, and the text that you typed into it is lost. Keys are ignored for a moment.";
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
      const { questions, focus } = get();
      const [question] = questions;
      if (focus === "unseen" && shown !== undefined && question?.key === shown) startReading(shown);
      const isTyping = question !== undefined && takesText(question) && before.focus === "dialog" && focus === "dialog";
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
