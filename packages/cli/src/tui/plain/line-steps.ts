/** Turns an entered line into an answer or a message, for plain mode (`fairlead --plain`). */

import type { Clock } from "@fairlead/core/clock";
import type { Key } from "../input/keys.ts";
import type { AppEvent, AppState } from "../state/app-state.ts";
import { offeredKeys } from "../state/confirmation-keys.ts";
import { type DialogState, dialogKey, dialogRoom, takesText } from "../state/dialog.ts";
import { type FormState, moveFocus } from "../state/form.ts";
import { entryFrom } from "../state/form-line.ts";
import { fieldValue } from "../state/form-value.ts";
import type { QuestionOf, UserQuestion } from "../state/questions.ts";

/** A key press or a state change that an entered line stands for. */
export type LineStep = { readonly key: Key } | { readonly event: AppEvent };

const enter: LineStep = { key: { name: "enter" } };
const cancel: LineStep = { key: { name: "escape" } };

/**
 * Returns the keys and events that an entered line stands for. Without an open question, the line is sent as a message.
 */
export function lineSteps(state: AppState, line: string): readonly LineStep[] {
  const { questions, focus, dialog } = state;
  const [question] = questions;
  if (question === undefined || focus !== "dialog" || dialog === undefined) return [typed(line), enter];
  const words = line.trim();
  switch (dialog.kind) {
    case "read": {
      if (words === "") return [enter];
      const key: Key = { name: "text", text: words };
      const step = dialogKey(question, dialog, key, dialogRoom(state.size));
      const isAnswer = "answer" in step || takesText(step.dialog);
      return isAnswer ? [{ key }] : [say(`"${words}" is not an answer. ${lettersOf(question)}`), put(dialog)];
    }
    case "chosen":
      return question.kind === "choice" ? chosenSteps(question, dialog, words) : [];
    case "typed":
      return words === "" ? [cancel] : [typed(words), enter];
    case "form":
      return formSteps(dialog, line);
  }
}

type Of<K extends DialogState["kind"]> = Extract<DialogState, { readonly kind: K }>;

function chosenSteps({ options }: QuestionOf<"choice">, dialog: Of<"chosen">, words: string): readonly LineStep[] {
  if (words === "") return [enter];
  if (words === "0") return [cancel];
  const number = /^\d+$/.test(words) ? Number(words) : 0;
  if (number >= 1 && number <= options.length) return [put({ ...dialog, at: number - 1 }), enter];
  return [say(`"${words}" is not a choice: type a number from 1 to ${options.length}, or 0 for none.`), put(dialog)];
}

/**
 * Uses the line as the value of the current field. An empty line keeps the field's value. `-` declines the form, and
 * `.` cancels it. `\-` and `\.` stand for the values `-` and `.`.
 */
function formSteps(dialog: Of<"form">, line: string): readonly LineStep[] {
  const { form } = dialog;
  const withForm = (next: FormState): LineStep => put({ ...dialog, form: next });
  const words = line.trim();
  if (words === ".") return [cancel];
  if (words === "-") return [withForm({ ...form, focus: "decline" }), enter];
  if (typeof form.focus !== "number") return words === "" ? [enter] : [withForm(form)];
  if (words === "") return [withForm(moveFocus(form, 1))];
  return [withForm(fillIn(form, /^\\+[-.]$/.test(words) ? words.slice(1) : line))];
}

function lettersOf(question: UserQuestion): string {
  if (question.kind === "confirmation") {
    const keys = offeredKeys(question.view).map(({ letter, words }) => `${letter} (${words})`);
    return `Type one letter: ${keys.join(", ")}.`;
  }
  if (question.kind === "sign_in") return "Type n to stop the sign-in.";
  return question.kind === "url" ? "Type one letter: y, h or n." : "Type one letter: y or n.";
}

/** Copies the dialog, because a new object makes the app print the question again. */
function put(dialog: DialogState): LineStep {
  return { event: { type: "dialog", dialog: { ...dialog } } };
}

function say(text: string): LineStep {
  return { event: { type: "note", tone: "warning", text } };
}

/** Enters the text as if the user typed it. As a paste, a long line would become a label. */
function typed(text: string): LineStep {
  return { key: { name: "text", text } };
}

/** A line that is entered within this many milliseconds after a question closed may be the answer to it. */
const longestLine = 5000;

/** Detects a line that answers a question that has already closed. The app must not send such a line to the model. */
export class LateLine {
  readonly #get: () => AppState;
  readonly #clock: Clock;
  #open: string | undefined;
  #goneAt: number | undefined;

  constructor(get: () => AppState, clock: Clock) {
    this.#get = get;
    this.#clock = clock;
  }

  /** Call this after each change of the app's state. Checks whether the open question has closed. */
  look(): void {
    const { questions, dialog } = this.#get();
    const [first] = questions;
    if (this.#open !== undefined && first?.key !== this.#open) this.#goneAt = this.#clock.now();
    this.#open = first !== undefined && dialog !== undefined && takesText(dialog) ? first.key : undefined;
  }

  /** Whether the user may have typed the last line for a question that closed less than 5 seconds ago. */
  isLate(): boolean {
    this.look();
    return this.#goneAt !== undefined && this.#clock.now() - this.#goneAt < longestLine;
  }

  /** Call this after a line was handled. If that line closed the question, the next line is not late. */
  read(): void {
    this.look();
    this.#goneAt = undefined;
  }
}

/** If the line is a valid value, moves to the next field. Otherwise stays at the field and shows the problem. */
function fillIn(form: FormState, line: string): FormState {
  const { focus, fields, entries } = form;
  const field = typeof focus === "number" ? fields[focus] : undefined;
  if (typeof focus !== "number" || field === undefined) return form;
  const problems = new Map(form.problems);
  const filled = entryFrom(field.input, line);
  if ("problem" in filled) return { ...form, problems: problems.set(focus, filled.problem) };
  const found = fieldValue(field, filled.entry);
  const filledIn = { ...form, entries: entries.with(focus, filled.entry) };
  if (found.kind === "problem") return { ...filledIn, problems: problems.set(focus, found.problem) };
  problems.delete(focus);
  return moveFocus({ ...filledIn, problems }, 1);
}
