/**
 * Turns an entered line into keys and events, fills in form fields, and detects a line that comes after its question
 * has closed. Pure functions.
 */

import type { Clock } from "@fairlead/core/clock";
import type { Key } from "../input/keys.ts";
import type { AppEvent, AppState } from "../state/app-state.ts";
import { offeredKeys } from "../state/confirmation-keys.ts";
import { type DialogState, dialogKey, dialogRoom, takesText } from "../state/dialog.ts";
import { type FormState, moveFocus } from "../state/form.ts";
import { entryFrom } from "../state/form-line.ts";
import { fieldValue } from "../state/form-value.ts";
import type { QuestionOf, UserQuestion } from "../state/questions.ts";

export type LineStep = { readonly key: Key } | { readonly event: AppEvent };

const enter: LineStep = { key: { name: "enter" } };
const cancel: LineStep = { key: { name: "escape" } };

/**
 * Returns the steps for an entered line. If no question is open, the line is sent. If one is open, a letter, a number
 * or a value answers it, and an empty line means no.
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
      const isAnswer = "answer" in dialogKey(question, dialog, key, dialogRoom(state.size));
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
  const number = /^\d+$/.test(words) ? Number(words) : 0;
  if (number >= 1 && number <= options.length) return [put({ ...dialog, at: number - 1 }), enter];
  return [say(`"${words}" is not a choice: type a number from 1 to ${options.length}.`), put(dialog)];
}

/**
 * Fills in one form field with a line. An empty line keeps the field's value. `-` declines the form, and `.` cancels
 * the form. `\-` and `\.` enter these characters as a value.
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
    const keys = offeredKeys(question.details.outcomes).map(({ letter, words }) => `${letter} (${words})`);
    return `Type one letter: ${keys.join(", ")}.`;
  }
  if (question.kind === "sign_in") return "Type n to stop the sign-in.";
  return question.kind === "url" ? "Type one letter: y, h or n." : "Type one letter: y or n.";
}

/** Creates a `dialog` event, which prints the question again. */
function put(dialog: DialogState): LineStep {
  return { event: { type: "dialog", dialog: { ...dialog } } };
}

function say(text: string): LineStep {
  return { event: { type: "note", tone: "warning", text } };
}

/** Enters the text as typed, not as pasted, because a long paste would be shown as a label. */
function typed(text: string): LineStep {
  return { key: { name: "text", text } };
}

export interface LateLine {
  /** Checks whether the open question has closed. Call this after each change of the app's state. */
  readonly look: () => void;
  /** Whether the user may have typed the last line for a question that has closed in the meantime. */
  readonly isLate: () => boolean;
  /** Call this after a line was handled. If the line answered a question, the next line does not count as late. */
  readonly read: () => void;
}

/**
 * If a line is entered within this many milliseconds after a question closed, the user may have typed it for that
 * question.
 */
const longestLine = 5000;

/**
 * Detects a line that the user typed for a question that has closed in the meantime. The app does not send such a line.
 */
export function createLateLine({ get, clock }: { readonly get: () => AppState; readonly clock: Clock }): LateLine {
  let open: string | undefined;
  let goneAt: number | undefined;

  function look(): void {
    const [first] = get().questions;
    if (open !== undefined && first?.key !== open) goneAt = clock.now();
    open = first !== undefined && takesText(first) ? first.key : undefined;
  }

  return {
    look,
    isLate() {
      look();
      return goneAt !== undefined && clock.now() - goneAt < longestLine;
    },
    read() {
      look();
      goneAt = undefined;
    },
  };
}

/** Returns the form at its next field. If the line is invalid, returns the form at the same field, with the problem. */
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
