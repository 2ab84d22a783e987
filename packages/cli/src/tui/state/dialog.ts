/** The state of the open question (its dialog), and what keys do in it. */

import { editLine } from "../input/edit-key.ts";
import { type Editor, emptyEditor, wholeText } from "../input/editor.ts";
import { type Key, letterOf } from "../input/keys.ts";
import { dialogFrame, focusedScroll } from "../view/dialogs/dialog-frame.ts";
import { formFrame } from "../view/dialogs/form-frame.ts";
import { frameExtent, type Room } from "../view/frame.ts";
import { confirmationAnswer } from "./confirmation-keys.ts";
import { type FormState, formKey, openForm } from "./form.ts";
import type { AnswersByKind, QuestionAnswer, QuestionOf, UserQuestion } from "./questions.ts";
import { scrollKey } from "./scroll.ts";

/** What the user has done in the open question so far. `key`: the question's key. */
export type DialogState = { readonly key: string } & (
  | { readonly kind: "read"; readonly scroll: number }
  | { readonly kind: "form"; readonly form: FormState }
  | { readonly kind: "typed"; readonly editor: Editor; readonly scroll: number }
  | { readonly kind: "chosen"; readonly at: number }
);

/** The effect of a key: a new state of the dialog, or the user's answer. */
export type DialogStep = { readonly dialog: DialogState } | { readonly answer: QuestionAnswer };

/** Returns the first state of a question's dialog. Only a form may already contain values. */
export function openDialog(question: UserQuestion): DialogState {
  const { key } = question;
  switch (question.kind) {
    case "confirmation":
    case "url":
    case "sampling":
    case "trust":
      return { key, kind: "read", scroll: 0 };
    case "form":
      return { key, kind: "form", form: openForm(question.schema, question.values, question.purpose !== "edit") };
    case "sign_in":
    case "client_id":
      if (question.kind === "sign_in" && !question.canPaste) return { key, kind: "read", scroll: 0 };
      // Scrolls to the end, where the text field is.
      return { key, kind: "typed", editor: emptyEditor, scroll: Number.POSITIVE_INFINITY };
    case "choice":
      return { key, kind: "chosen", at: question.selected ?? 0 };
  }
}

/** Whether the dialog takes typed and pasted text. A form always does, a confirmation for the reason of a no. */
export function takesText({ kind }: Pick<DialogState, "kind">): boolean {
  return kind === "form" || kind === "typed";
}

/**
 * Returns the maximum size of a dialog. On a screen with at least 13 rows, eight rows stay free for running items, the
 * prompt and the status line.
 */
export function dialogRoom({ columns, rows }: { readonly columns: number; readonly rows: number }): Room {
  return { width: Math.max(20, columns), height: Math.max(5, rows - 8) };
}

/** Returns what a key does in the dialog. `room` limits how far the user can scroll. */
export function dialogKey(question: UserQuestion, dialog: DialogState, key: Key, room: Room): DialogStep {
  switch (dialog.kind) {
    case "read":
      return readKey(question, dialog, key, room);
    case "form":
      return question.kind === "form" ? inForm(question, dialog, key, room) : { dialog };
    case "typed":
      return typedKey(question, dialog, key, room);
    case "chosen":
      return question.kind === "choice" ? choiceKey(question, dialog, key) : { dialog };
  }
}

type Of<K extends DialogState["kind"]> = Extract<DialogState, { readonly kind: K }>;

function readKey(question: UserQuestion, dialog: Of<"read">, key: Key, room: Room): DialogStep {
  const extent = frameExtent(dialogFrame(question, dialog, room), room);
  const confirmed = question.kind === "confirmation" ? confirmationAnswer(question.view, key) : undefined;
  if (confirmed === "because")
    return { dialog: { key: dialog.key, kind: "typed", editor: emptyEditor, scroll: Number.POSITIVE_INFINITY } };
  const answer =
    confirmed === undefined ? yesOrNo(question, key) : ({ kind: "confirmation", value: confirmed } as const);
  return answer === undefined
    ? { dialog: { ...dialog, scroll: scrollKey(dialog.scroll, key, extent) ?? dialog.scroll } }
    : { answer };
}

/** Returns the answer that a key gives, or undefined if the key gives none. Enter and Escape never mean yes. */
function yesOrNo(question: UserQuestion, key: Key): QuestionAnswer | undefined {
  const { name } = key;
  const letter = letterOf(key);
  const isNo = name === "enter" || name === "escape" || letter === "n";
  const isYes = letter === "y";
  if (question.kind === "url") {
    const value = urlAnswers.get(name === "text" ? (letter ?? "") : name);
    return value === undefined ? undefined : { kind: "url", value };
  }
  // Enter must not stop the sign-in: users may press it out of habit after entering the code on another device.
  if (question.kind === "sign_in")
    return name === "escape" || letter === "n" ? { kind: "sign_in", value: undefined } : undefined;
  if (question.kind === "trust" && letter === "s" && question.servers.some(({ offered }) => offered !== undefined))
    return { kind: "trust", value: "sandboxed" };
  if ((question.kind !== "sampling" && question.kind !== "trust") || !(isNo || isYes)) return undefined;
  return { kind: question.kind, value: isYes };
}

const urlAnswers: ReadonlyMap<string, AnswersByKind["url"]> = new Map([
  ["y", "open"],
  ["h", "by_hand"],
  ["n", "decline"],
  ["enter", "decline"],
  ["escape", "cancel"],
]);

function inForm(question: QuestionOf<"form">, dialog: Of<"form">, key: Key, room: Room): DialogStep {
  const step = formKey(dialog.form, key);
  if ("answer" in step) return { answer: { kind: "form", value: step.answer } };
  const frame = formFrame(question, step.state, room);
  const extent = frameExtent(frame, room);
  const still = focusedScroll(frame, extent, 0);
  // Keeps the scroll position between the first and the last row.
  return {
    dialog: { ...dialog, form: { ...step.state, look: focusedScroll(frame, extent, step.state.look) - still } },
  };
}

function typedKey(question: UserQuestion, dialog: Of<"typed">, key: Key, room: Room): DialogStep {
  const text = wholeText(dialog.editor).trim();
  if (question.kind === "confirmation" && key.name === "escape") return { dialog: openDialog(question) };
  if (question.kind === "confirmation" && key.name === "enter")
    return { answer: { kind: "confirmation", value: text === "" ? "no" : { because: text } } };
  if (question.kind === "client_id" && (key.name === "enter" || key.name === "escape"))
    return { answer: { kind: "client_id", value: key.name === "enter" ? text : "" } };
  if (question.kind === "sign_in" && key.name === "escape") return { answer: { kind: "sign_in", value: undefined } };
  if (question.kind === "sign_in" && key.name === "enter")
    return text === "" ? { dialog } : { answer: { kind: "sign_in", value: text } };
  const isMove = ["up", "down", "pageup", "pagedown"].includes(key.name);
  if (!isMove) return { dialog: { ...dialog, editor: editLine(dialog.editor, key), scroll: Number.POSITIVE_INFINITY } };
  const extent = frameExtent(dialogFrame(question, dialog, room), room);
  return { dialog: { ...dialog, scroll: scrollKey(dialog.scroll, key, extent) ?? dialog.scroll } };
}

function choiceKey({ options }: QuestionOf<"choice">, dialog: Of<"chosen">, key: Key): DialogStep {
  if (key.name === "escape") return { answer: { kind: "choice", value: undefined } };
  if (key.name === "enter") return { answer: { kind: "choice", value: dialog.at } };
  const step = key.name === "up" ? -1 : key.name === "down" ? 1 : 0;
  if (step === 0) return { dialog };
  return { dialog: { ...dialog, at: Math.max(0, Math.min(dialog.at + step, options.length - 1)) } };
}
