/** Lays out the open question: builds its frame and cuts it to the visible rows. */

import { type ConfirmationView, requestVerbs } from "@fairlead/core/policy";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { type Editor, emptyEditor } from "../../input/editor.ts";
import { offeredKeys } from "../../state/confirmation-keys.ts";
import type { FormState } from "../../state/form.ts";
import type { QuestionNumber, QuestionOf, UserQuestion } from "../../state/questions.ts";
import { clampScroll, type Extent } from "../../state/scroll.ts";
import { bodyWidth, type Frame, frameExtent, frameLines, type Room } from "../frame.ts";
import { type Line, span, wrapLine, wrapWhole } from "../line.ts";
import { jsonLines, quoteColumns, toDecisionText } from "../text-lines.ts";
import { fieldLines, key, labelled, nameSpan, section, speech, titleLine, told } from "./dialog-parts.ts";
import { formFrame } from "./form-frame.ts";
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
  const frame = dialogFrame(question, look, room);
  const scroll = frame.focused
    ? focusedScroll(frame, frameExtent(frame, room), look.form?.look ?? 0)
    : (look.scroll ?? 0);
  return frameLines({ ...frame, title: titleLine(frame.title, number) }, room, scroll);
}

const empty: Frame = { title: [], body: [], keys: [], colour: "cyan" };

/** Returns the whole frame of a question, including the rows that do not fit on the screen. */
export function dialogFrame(question: UserQuestion, { form, editor, at }: DialogLook, room: Room): Frame {
  switch (question.kind) {
    case "confirmation":
      return confirmationFrame(question, editor, room);
    case "form":
      return form === undefined ? empty : formFrame(question, form, room);
    case "url":
      return urlFrame(question, room);
    case "sampling":
      return samplingFrame(question, room);
    case "trust":
      return trustFrame(question, room);
    case "sign_in":
      return signInFrame(question, editor ?? emptyEditor, room);
    case "client_id":
      return clientIdFrame(question, editor ?? emptyEditor, room);
    case "choice":
      return choiceFrame(question, at ?? 0, room);
  }
}

/**
 * Returns the index of the first visible row of a form or a list. `look`: how many rows the user has scrolled away from
 * the focused field.
 */
export function focusedScroll(
  { focused: { from, to } = { from: 0, to: 0 } }: Frame,
  extent: Extent,
  look: number,
): number {
  const still = Math.min(from, Math.max(0, to - extent.page));
  return clampScroll(still + look, extent);
}

/** If the dialog has fewer columns for its body, or fewer rows, the keys have short labels. */
const [narrow, low] = [50, 12];

/** `reason`: the reason that the user types for a no. */
function confirmationFrame({ view }: QuestionOf<"confirmation">, reason: Editor | undefined, room: Room): Frame {
  const {
    server,
    kind,
    name,
    modelName,
    description,
    args,
    isCut = false,
    digest,
    hints,
    flags,
    sandbox,
    change,
  } = view;
  const width = bodyWidth(room);
  const inner = width - quoteColumns;
  const why = whyText(view);
  const title =
    kind === "host"
      ? [nameSpan(server), span(safe` wants `), nameSpan(name)]
      : [nameSpan(server), span(safe`: ${requestVerbs[kind]} ${kindWords[kind]}`), nameSpan(name), span(safe`?`)];
  return {
    title,
    colour: "yellow",
    body: [
      ...labelled(safe`server`, sandbox === undefined ? server : `${server} (${sandbox})`, width),
      ...labelled(toSafeLine(kind), modelName === undefined ? name : `${name} (model name: ${modelName})`, width),
      ...(why === "" ? [] : told(safe`why`, why, width)),
      ...(hints === undefined ? [] : told(safe`hints`, hints, width)),
      ...(flags?.split("\n").flatMap((flag, at) => told(at === 0 ? safe`flags` : safe``, flag, width)) ?? []),
      ...changeLines(change, width),
      ...(kind === "host"
        ? []
        : Object.keys(args).length === 0
          ? wrapLine([span(safe`Arguments: none`, { isBold: true })], width)
          : section(
              isCut
                ? safe`Arguments, only their beginning (sha256 ${toSafeLine(digest)}):`
                : safe`Arguments, exactly as sent:`,
              jsonLines(args, inner),
              width,
            )),
      ...speech(safe`Description from the server:`, description ?? "", width),
      ...(reason === undefined ? [] : fieldLines(safe`Why not? The model reads your reason:`, reason, width)),
    ],
    keys:
      reason === undefined
        ? offeredKeys(view).map(({ letter, words, short }) =>
            key(toSafeLine(letter), toSafeLine(width < narrow || room.height < low ? short : words)),
          )
        : [key(safe`Enter`, safe`no, for this reason`), key(safe`Esc`, safe`back to the question`)],
  };
}

const kindWords: Readonly<Record<ConfirmationView["kind"], SafeText>> = {
  tool: safe``,
  resource: safe`resource `,
  prompt: safe`prompt `,
  sampling: safe``,
  skill: safe`skill `,
  host: safe`host `,
};

function whyText({ who, client, folder, id, reason }: ConfirmationView): string {
  if (client === undefined) return reason;
  const at = folder === undefined ? "" : ` in ${folder}`;
  const asker = who === "client" ? `the program "${client}"` : client;
  return `asked by ${asker}${at} (approval ${id})${reason === "" ? "" : `; ${reason}`}`;
}

function changeLines(change: ConfirmationView["change"], width: number): readonly Line[] {
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
