/** Lays out a form: its title, message, fields and two buttons. */

import { type FormField, mostFields } from "@fairlead/console/form/form-field";
import { formatWords } from "@fairlead/console/form/typed-value";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { FormState } from "../../state/form.ts";
import type { FieldEntry } from "../../state/form-value.ts";
import type { QuestionOf } from "../../state/questions.ts";
import { bodyWidth, type Frame, type Room } from "../frame.ts";
import { type Line, type SpanStyle, span, wrapLine, wrapWhole } from "../line.ts";
import { decisionLines, quoteColumns, quoted } from "../text-lines.ts";
import { editorLines, key, nameSpan, speech } from "./dialog-parts.ts";

/** Returns the frame of a form question, with all rows. */
export function formFrame(question: QuestionOf<"form">, form: FormState, room: Room): Frame {
  const { serverName, toolName, message, purpose } = question;
  const width = bodyWidth(room);
  const isQuestion = purpose === "elicitation";
  const title = isQuestion
    ? [nameSpan(serverName), span(safe` asks you`)]
    : [
        span(purpose === "edit" ? safe`Edit the arguments of ` : safe`Arguments for `),
        nameSpan(toolName === undefined ? serverName : `${serverName}.${toolName}`),
      ];
  const body: Line[] = [...speech(isQuestion ? safe`Message:` : safe`Tool:`, message, width)];
  let focused = { from: 0, to: 0 };
  const put = (isFocused: boolean, lines: readonly Line[]): void => {
    if (isFocused) focused = { from: body.length, to: body.length + lines.length };
    body.push(...lines);
  };
  for (const [at, field] of form.fields.entries()) {
    const entry = form.entries[at];
    const problem = form.problems.get(at);
    if (entry !== undefined)
      put(form.focus === at, fieldLines(field, entry, { problem, isFocused: form.focus === at, width }));
  }
  if (form.leftOut > 0)
    body.push(...wrapLine([span(safe`${form.leftOut} more fields are not shown (limit: ${mostFields}).`)], width));
  const [send, decline] = buttonWords[purpose];
  put(form.focus === "send", [button(send, form.focus === "send")]);
  put(form.focus === "decline", [button(decline, form.focus === "decline")]);
  return { title, colour: "cyan", body, focused, keys: keysFor(form) };
}

const buttonWords: Readonly<Record<QuestionOf<"form">["purpose"], readonly [send: SafeText, decline: SafeText]>> = {
  elicitation: [safe`Send to the server`, safe`Decline`],
  arguments: [safe`Run`, safe`Do not run`],
  edit: [safe`Use these arguments`, safe`Back to the question`],
};

function button(words: SafeText, isFocused: boolean): Line {
  return [pointer(isFocused), span(safe`[ ${words} ]`, isFocused ? { isBold: true, isInverse: true } : {})];
}

function pointer(isFocused: boolean): Line[number] {
  return span(isFocused ? safe`› ` : safe`  `, { isBold: true });
}

function keysFor({ focus, fields }: FormState): readonly Line[] {
  const kind = typeof focus === "number" ? fields[focus]?.input.kind : undefined;
  const own: Readonly<Record<FormField["input"]["kind"], readonly Line[]>> = {
    text: [],
    number: [],
    json: [],
    switch: [key(safe`y/n`, safe`yes or no`)],
    choice: [key(safe`↑↓`, safe`choose`)],
    choices: [key(safe`↑↓`, safe`move`), key(safe`Space`, safe`mark`)],
  };
  return [
    ...(kind === undefined ? [] : own[kind]),
    key(kind === "choice" || kind === "choices" ? safe`Tab` : safe`↑↓`, safe`fields`),
    key(safe`Enter`, kind === undefined ? safe`select` : safe`next`),
    key(safe`Esc`, safe`cancel`),
  ];
}

interface Look {
  readonly problem: string | undefined;
  readonly isFocused: boolean;
  readonly width: number;
}

/** The focused field also shows its description and limits. */
function fieldLines(field: FormField, entry: FieldEntry, { problem, isFocused, width }: Look): readonly Line[] {
  const { name, title, isRequired, isSecret, description } = field;
  const named = title === name ? toVisibleLine(name) : safe`${toVisibleLine(title)} (${toVisibleLine(name)})`;
  const head = span(isRequired ? safe`${named} (required)` : named, { isBold: isFocused });
  const inner = width - 2;
  const note = (words: SafeText, style: SpanStyle): readonly Line[] => wrapLine([span(words, style)], inner);
  const below = [
    ...valueLines(field, entry, isFocused, inner),
    ...(problem === undefined ? [] : note(safe`! ${toVisibleLine(problem)}`, { colour: "red" })),
    ...(isSecret
      ? note(safe`! asks for a secret: enter it only if this server may have it`, { colour: "yellow" })
      : []),
    ...(isFocused && description !== undefined
      ? quoted(decisionLines(description, inner - quoteColumns, { isDim: true }))
      : []),
    ...(isFocused ? hintWords(field).flatMap((words) => note(words, { isDim: true })) : []),
  ];
  return [
    ...wrapWhole([head], inner).map((line, at) => [pointer(isFocused && at === 0), ...line]),
    ...below.map((line) => [span(safe`  `), ...line]),
  ];
}

function valueLines({ input }: FormField, entry: FieldEntry, isFocused: boolean, width: number): readonly Line[] {
  switch (entry.kind) {
    case "typed":
      return editorLines(entry.editor, isFocused, width);
    case "switched": {
      const words =
        entry.isOn === undefined ? safe`( ) yes  ( ) no` : entry.isOn ? safe`(•) yes  ( ) no` : safe`( ) yes  (•) no`;
      return wrapLine([span(words)], width);
    }
    case "chosen":
      return listLines(input, width, isFocused, entry.at, (at) => at === entry.at);
    case "several":
      return listLines(input, width, isFocused, isFocused ? entry.at : undefined, (at) => entry.chosen.has(at));
  }
}

/** Number of choices around the current one that are shown at the same time. */
const shownChoices = 9;

function listLines(
  input: FormField["input"],
  width: number,
  isFocused: boolean,
  current: number | undefined,
  isChosen: (at: number) => boolean,
): readonly Line[] {
  if (input.kind !== "choice" && input.kind !== "choices") return [];
  const { choices } = input;
  const [yes, no] = input.kind === "choice" ? [safe`(•)`, safe`( )`] : [safe`[x]`, safe`[ ]`];
  if (!isFocused) {
    const chosen = choices.filter((_, at) => isChosen(at)).map(({ title }) => toVisibleLine(title));
    return wrapLine([span(chosen.length === 0 ? safe`(nothing chosen)` : joinSafe(chosen, safe`, `))], width);
  }
  const last = Math.max(0, choices.length - shownChoices);
  const from = Math.min(last, Math.max(0, (current ?? 0) - Math.floor(shownChoices / 2)));
  const lines = choices.slice(from, from + shownChoices).flatMap(({ title }, index) => {
    const at = from + index;
    const rows = wrapWhole([span(toVisibleLine(title))], width - 6);
    const isHere = at === current;
    return rows.map((row, rowAt) => [
      span(rowAt === 0 ? safe`${isHere ? safe`> ` : safe`  `}${isChosen(at) ? yes : no} ` : safe`      `, {
        isBold: isHere,
      }),
      ...row,
    ]);
  });
  const rest = choices.length - from - shownChoices;
  return [
    ...lines,
    ...(rest > 0 || from > 0 ? wrapLine([span(safe`${choices.length} choices`, { isDim: true })], width) : []),
  ];
}

function hintWords({ input, default: given }: FormField): readonly SafeText[] {
  const hint = inputHint(input);
  const isTyped = input.kind === "text" || input.kind === "number" || input.kind === "json";
  return [
    ...(hint === undefined ? [] : [hint]),
    ...(given !== undefined && isTyped ? [safe`default: ${toVisibleLine(JSON.stringify(given))}`] : []),
  ];
}

function inputHint(input: FormField["input"]): SafeText | undefined {
  switch (input.kind) {
    case "text":
      return input.format === undefined
        ? range(input.minLength, input.maxLength, safe` characters`)
        : toSafeLine(formatWords[input.format]);
    case "number": {
      const bounds = range(input.minimum, input.maximum, safe``);
      const kind = input.isInteger ? safe`a whole number` : safe`a number`;
      return bounds === undefined ? kind : safe`${kind}, ${bounds}`;
    }
    case "json":
      return safe`a value as JSON`;
    case "choices":
      return range(input.minItems, input.maxItems, safe` choices`);
    case "switch":
    case "choice":
      return undefined;
  }
}

function range(least: number | undefined, most: number | undefined, what: SafeText): SafeText | undefined {
  if (least !== undefined && most !== undefined) return safe`${least} to ${most}${what}`;
  if (least !== undefined) return safe`at least ${least}${what}`;
  return most === undefined ? undefined : safe`at most ${most}${what}`;
}
