/** Lays out the open question: builds its frame and cuts it to the visible rows. */

import type { Difference } from "@fairlead/core/server/tool-changes";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { JsonObject } from "@fairlead/wire";
import { type Editor, emptyEditor } from "../../input/editor.ts";
import { offeredKeys } from "../../state/confirmation-keys.ts";
import type { FormState } from "../../state/form.ts";
import type { QuestionNumber, QuestionOf, UserQuestion } from "../../state/questions.ts";
import { clampScroll, type Extent } from "../../state/scroll.ts";
import { bodyWidth, type Frame, frameExtent, frameLines, type Room } from "../frame.ts";
import { type Line, span, wrapLine, wrapWhole } from "../line.ts";
import { jsonLines, quoteColumns, toDecisionText } from "../text-lines.ts";
import { fieldLines, key, labelled, nameSpan, section, speech, titleLine, told } from "./dialog-parts.ts";
import { type FormFrame, formFrame } from "./form-frame.ts";
import { choiceFrame, clientIdFrame, samplingFrame, signInFrame, trustFrame, urlFrame } from "./question-frames.ts";

/** What the user has entered or scrolled in the dialog. */
export interface DialogLook {
  readonly scroll?: number;
  readonly form?: FormState;
  readonly editor?: Editor;
  readonly at?: number;
}

/** Returns the visible lines of the open question. */
export function dialogLines(
  question: UserQuestion,
  look: DialogLook,
  number: QuestionNumber,
  room: Room,
): readonly Line[] {
  if (question.kind === "form" && look.form !== undefined) {
    const frame = formFrame(question, look.form, number, room);
    return frameLines(frame, room, formScroll(frame, frameExtent(frame, room), look.form.look));
  }
  if (question.kind === "choice") {
    const frame = choiceFrame(question, look.at ?? 0, number, room);
    return frameLines(frame, room, formScroll(frame, frameExtent(frame, room), 0));
  }
  return frameLines(dialogFrame(question, look, number, room), room, look.scroll ?? 0);
}

const empty: Frame = { title: [], body: [], keys: [], colour: "cyan" };

/** Returns the whole frame of a question, including the rows that do not fit on the screen. */
export function dialogFrame(
  question: UserQuestion,
  { form, editor, at }: DialogLook,
  number: QuestionNumber,
  room: Room,
): Frame {
  switch (question.kind) {
    case "confirmation":
      return confirmationFrame(question, editor, number, room);
    case "form":
      return form === undefined ? empty : formFrame(question, form, number, room);
    case "url":
      return urlFrame(question, number, room);
    case "sampling":
      return samplingFrame(question, number, room);
    case "trust":
      return trustFrame(question, number, room);
    case "sign_in":
      return signInFrame(question, editor ?? emptyEditor, number, room);
    case "client_id":
      return clientIdFrame(question, editor ?? emptyEditor, number, room);
    case "choice":
      return choiceFrame(question, at ?? 0, number, room);
  }
}

/**
 * Returns the index of the first visible row of a form or a list. `look`: how many rows the user has scrolled away from
 * the focused field.
 */
export function formScroll({ focused: { from, to } }: FormFrame, extent: Extent, look: number): number {
  const still = Math.min(from, Math.max(0, to - extent.page));
  return clampScroll(still + look, extent);
}

/** If the dialog has fewer columns for its body, or fewer rows, the keys have short labels. */
const [narrow, low] = [50, 12];

/** `reason`: the reason that the user types for a no. */
function confirmationFrame(
  question: QuestionOf<"confirmation">,
  reason: Editor | undefined,
  number: QuestionNumber,
  room: Room,
): Frame {
  const { serverName, toolName, toolDisplayName, description, args, annotations, rule, change } = question.details;
  const width = bodyWidth(room);
  const inner = width - quoteColumns;
  const isOther = toolDisplayName !== toolName;
  return {
    title: titleLine([nameSpan(serverName), span(safe`: run `), nameSpan(toolName), span(safe`?`)], number),
    colour: "yellow",
    body: [
      ...labelled(safe`server`, serverName, width),
      ...labelled(safe`tool`, isOther ? `${toolName} (model name: ${toolDisplayName})` : toolName, width),
      ...(rule === undefined ? [] : told(safe`why`, rule.text, width)),
      ...(annotations === undefined ? [] : told(safe`hints`, annotationWords(annotations), width)),
      ...changeLines(change, width),
      ...(Object.keys(args).length === 0
        ? wrapLine([span(safe`Arguments: none`, { isBold: true })], width)
        : section(safe`Arguments, exactly as sent:`, jsonLines(args, inner), width)),
      ...speech(safe`Description from the server:`, description, width),
      ...(reason === undefined ? [] : fieldLines(safe`Why not? The model reads your reason:`, reason, width)),
    ],
    keys:
      reason === undefined
        ? offeredKeys(question).map(({ letter, words, short }) =>
            key(toSafeLine(letter), toSafeLine(width < narrow || room.height < low ? short : words)),
          )
        : [key(safe`Enter`, safe`no, for this reason`), key(safe`Esc`, safe`back to the question`)],
  };
}

function changeLines(change: readonly Difference[] | undefined, width: number): readonly Line[] {
  if (change === undefined) return [];
  const inner = width - quoteColumns;
  const lines = change.flatMap(({ member, before, after }) => [
    ...wrapWhole([span(toVisibleLine(member))], inner),
    ...(before === undefined ? [] : side(safe`- `, before, inner, "red")),
    ...(after === undefined ? [] : side(safe`+ `, after, inner, "green")),
  ]);
  const words = safe`CHANGED definition: accepted (-), now (+):`;
  return section(words, lines, width, { colour: "red" });
}

function side(sign: SafeText, text: string, width: number, colour: "red" | "green"): readonly Line[] {
  const indent = span(safe`  `);
  const rows = wrapWhole([span(toDecisionText(text), { colour })], width - 4);
  return rows.map((row, at) => [indent, at === 0 ? span(sign, { colour }) : indent, ...row]);
}

const hints: ReadonlyMap<string, readonly [yes: string, no: string]> = new Map([
  ["readOnlyHint", ["read-only", "not read-only"]],
  ["destructiveHint", ["destructive", "not destructive"]],
  ["idempotentHint", ["idempotent", "not idempotent"]],
  ["openWorldHint", ["open world", "closed world"]],
]);

/** Servers can claim anything in annotations, so the text says that they are not verified. */
function annotationWords(annotations: JsonObject): string {
  const texts = Object.entries(annotations).map(([name, value]) => {
    const words = hints.get(name);
    if (words === undefined || typeof value !== "boolean") return `${name} = ${JSON.stringify(value)}`;
    return words[value ? 0 : 1];
  });
  return texts.length === 0 ? "none" : `${texts.join(", ")} (claimed by the server, not verified)`;
}
