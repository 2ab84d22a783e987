/** The frame of the open question and its visible part. Pure. */

import { type Editor, emptyEditor } from "../../input/editor.ts";
import type { FormState } from "../../state/form.ts";
import type { QuestionNumber, UserQuestion } from "../../state/questions.ts";
import { clampScroll, type Extent } from "../../state/scroll.ts";
import { type Frame, frameExtent, frameLines, type Room } from "../frame.ts";
import type { Line } from "../line.ts";
import { confirmationFrame } from "./confirmation-frame.ts";
import { type FormFrame, formFrame } from "./form-frame.ts";
import { choiceFrame, clientIdFrame, samplingFrame, signInFrame, trustFrame, urlFrame } from "./question-frames.ts";

/** The parts of a dialog's state that the views need. */
export interface DialogLook {
  readonly scroll?: number;
  readonly form?: FormState;
  readonly editor?: Editor;
  readonly at?: number;
}

export function dialogLines(
  question: UserQuestion,
  look: DialogLook,
  place: QuestionNumber,
  room: Room,
): readonly Line[] {
  if (question.kind === "form" && look.form !== undefined) {
    const frame = formFrame(question, look.form, place, room);
    return frameLines(frame, room, formScroll(frame, frameExtent(frame, room), look.form.look));
  }
  return frameLines(dialogFrame(question, look, place, room), room, look.scroll ?? 0);
}

const empty: Frame = { title: [], body: [], keys: [], colour: "cyan" };

export function dialogFrame(
  question: UserQuestion,
  { form, editor, at }: DialogLook,
  place: QuestionNumber,
  room: Room,
): Frame {
  switch (question.kind) {
    case "confirmation":
      return confirmationFrame(question.details, place, room);
    case "form":
      return form === undefined ? empty : formFrame(question, form, place, room);
    case "url":
      return urlFrame(question, place, room);
    case "sampling":
      return samplingFrame(question, place, room);
    case "trust":
      return trustFrame(question, place, room);
    case "sign_in":
      return signInFrame(question, editor ?? emptyEditor, place, room);
    case "client_id":
      return clientIdFrame(question, editor ?? emptyEditor, place, room);
    case "choice":
      return choiceFrame(question, at, place, room);
  }
}

/** The scroll position that shows the focused field, moved by `look` rows. */
export function formScroll({ focused: { from, to } }: FormFrame, extent: Extent, look: number): number {
  const still = Math.min(from, Math.max(0, to - extent.page));
  return clampScroll(still + look, extent);
}
