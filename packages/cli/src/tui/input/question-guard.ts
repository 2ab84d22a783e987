/**
 * Lets keys answer a question only after the user has had time to see it. Ignores keys for a moment if a question
 * closes while the user types into it.
 */

import type { Clock } from "@fairlead/core/clock";
import type { Store } from "../session/store.ts";
import { takesText } from "../state/dialog.ts";
import { isCtrl, type Key } from "./keys.ts";

/** Milliseconds that a question must be visible before a key can answer it. */
const readingTime = 400;
/**
 * If a question closes while the user types into it, keys are ignored until the user pauses for this many milliseconds,
 * or presses Enter or Escape.
 */
const pause = 1000;

/**
 * Receives all keys of the app, and passes on those that the user did not type for a question that has closed. Call `end`
 * when the app ends, to cancel the timers.
 */
export class QuestionGuard {
  readonly #store: Pick<Store, "get" | "dispatch">;
  readonly #pass: (key: Key) => void;
  readonly #clock: Clock;
  #shown: string | undefined;
  #callOffReading: (() => void) | undefined;
  #typedInto: string | undefined;
  /** Cancels the timer after which keys work again. Set only while keys are ignored. */
  #callOffPause: (() => void) | undefined;

  constructor(store: Pick<Store, "get" | "dispatch">, pass: (key: Key) => void, clock: Clock) {
    this.#store = store;
    this.#pass = pass;
    this.#clock = clock;
  }

  readonly press = (key: Key): void => {
    this.look();
    if (this.#callOffPause !== undefined && !isCtrl(key, "c")) {
      if (key.name === "enter" || key.name === "escape") this.#endPause();
      else this.#startPause();
      return;
    }
    const before = this.#store.get();
    this.#pass(key);
    const { questions, focus, dialog } = this.#store.get();
    const [question] = questions;
    if (focus === "unseen" && this.#shown !== undefined && question?.key === this.#shown)
      this.#startReading(this.#shown);
    const isTyping =
      question !== undefined &&
      dialog !== undefined &&
      takesText(dialog) &&
      before.focus === "dialog" &&
      focus === "dialog";
    this.#typedInto = isTyping && question.key === before.questions[0]?.key ? question.key : undefined;
  };

  /** Call this after each frame is written, with the key of the question in that frame. */
  readonly drawn = (question: string | undefined): void => {
    if (question === this.#shown) return;
    this.#shown = question;
    this.#callOffReading?.();
    if (question !== undefined) this.#startReading(question);
  };

  /**
   * Call this after each change of the app's state. Checks whether the question that the user was answering has closed.
   */
  readonly look = (): void => {
    const { questions, isQuitting } = this.#store.get();
    if (this.#typedInto === undefined || questions[0]?.key === this.#typedInto) return;
    this.#typedInto = undefined;
    if (isQuitting) return;
    this.#startPause();
    const text = "The question has closed, and the text that you typed into it is lost. Wait a second before you type.";
    this.#store.dispatch({ type: "note", tone: "warning", text });
  };

  end(): void {
    this.#callOffReading?.();
    this.#endPause();
  }

  /** Each key press starts the reading time again, because a user who types does not read. */
  #startReading(key: string): void {
    this.#callOffReading?.();
    const seen = (): void => this.#store.dispatch({ type: "drawn", key });
    this.#callOffReading = this.#clock.after(readingTime, seen, { background: true });
  }

  #startPause(): void {
    this.#callOffPause?.();
    this.#callOffPause = this.#clock.after(pause, () => this.#endPause(), { background: true });
  }

  #endPause(): void {
    this.#callOffPause?.();
    this.#callOffPause = undefined;
  }
}
