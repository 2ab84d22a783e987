/** Shows a server's question (elicitation) on the terminal: a form field by field, or an address to open. */

import type { FormField } from "@fairlead/console/form/form-field";
import { openUrl } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import type { Elicitation, ElicitationAnswer } from "@fairlead/core/server";
import { joinSafe, type SafeText, safe, toSafeJson, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { ProgramPlace } from "@fairlead/core/trust";
import { formValues, openForm } from "../tui/state/form.ts";
import { entryFrom } from "../tui/state/form-line.ts";
import { type FieldEntry, fieldValue } from "../tui/state/form-value.ts";
import { askHiddenOrEnd, askLine, askLineOrEnd, confirm } from "./prompt.ts";
import type { Context, Io } from "./verb.ts";

type OfMode<M extends Elicitation["mode"]> = Extract<Elicitation, { readonly mode: M }>;

/**
 * Shows the server's question and returns the user's answer. Ctrl-C, Ctrl-D and `.` cancel the question, but not the
 * call.
 */
export async function answerOnTerminal(
  request: Elicitation,
  signal: AbortSignal,
  context: Here,
): Promise<ElicitationAnswer> {
  const io: Io = { ...context.io, signal: AbortSignal.any([context.io.signal, signal]) };
  const here = { ...context, io };
  try {
    return request.mode === "form" ? await fillIn(request, here) : await openAddress(request, here);
  } catch (error) {
    if (error instanceof HostError && error.code === "cancelled") return { action: "cancel" };
    throw error;
  }
}

interface Here extends Pick<Context, "io" | "out"> {
  /** Where to look for the program that opens the browser. */
  readonly browserPlace: ProgramPlace;
}

async function fillIn(request: OfMode<"form">, { io, out }: Pick<Here, "io" | "out">): Promise<ElicitationAnswer> {
  const { serverName, requestedSchema } = request;
  out.exactly(heading(request));
  const form = openForm(requestedSchema);
  const entries = [...form.entries];
  if (form.fields.length > 0)
    out.exactly(
      safe`Enter keeps the current value or leaves the field empty. To decline, type "-". To cancel, type ".".`,
    );
  for (const [at, field] of form.fields.entries()) {
    const before = entries[at];
    if (before === undefined) continue;
    const read = await readField(field, before, { io, out });
    if (read === "decline" || read === "cancel") return { action: read };
    entries[at] = read;
  }
  const found = formValues({ ...form, entries });
  if (found.kind === "problems") return { action: "cancel" };
  out.exactly(toSafeJson(withoutSecrets(found.values, form.fields)));
  const isSent = await confirm(io, safe`Send this to "${toVisibleLine(serverName)}"?`);
  return isSent ? { action: "accept", content: found.values } : { action: "decline" };
}

/** Replaces secret values by `(hidden)`, so that all values of the form can be shown. */
function withoutSecrets(
  values: Readonly<Record<string, unknown>>,
  fields: readonly FormField[],
): Readonly<Record<string, unknown>> {
  const secrets = new Set(fields.filter(isTypedSecret).map(({ name }) => name));
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, secrets.has(name) ? "(hidden)" : value]),
  );
}

/** Whether the field is for a secret that the user types, so that the value must not be shown. */
function isTypedSecret({ isSecret, input: { kind } }: FormField): boolean {
  return isSecret && (kind === "text" || kind === "number" || kind === "json");
}

/** Asks for one field until the value is valid. */
async function readField(
  field: FormField,
  before: FieldEntry,
  { io, out }: Pick<Here, "io" | "out">,
): Promise<FieldEntry | "decline" | "cancel"> {
  for (const line of fieldLines(field)) out.exactly(line);
  const isHidden = isTypedSecret(field);
  for (;;) {
    const line = isHidden
      ? await askHiddenOrEnd(io, safe`${fieldName(field)} (not shown): `)
      : await askLineOrEnd(io, safe`${fieldName(field)}: `);
    const words = line?.trim();
    if (line === undefined || words === ".") return "cancel";
    if (words === "-") return "decline";
    const filled = words === "" ? { entry: before } : entryFrom(field.input, unescaped(line));
    if ("entry" in filled) {
      const found = fieldValue(field, filled.entry);
      if (found.kind !== "problem") return filled.entry;
      // The error message for a JSON value may quote the value, so it is not shown for a secret.
      const isQuoting = isHidden && field.input.kind === "json";
      out.exactly(safe`  ! ${isQuoting ? safe`is not a valid value` : toVisibleLine(found.problem)}`);
    } else out.exactly(safe`  ! ${toVisibleLine(filled.problem)}`);
  }
}

/**
 * Removes the backslash from a line `\-` or `\.`. Without the backslash, `-` declines the question and `.` cancels it.
 */
function unescaped(line: string): string {
  return /^\s*\\+[-.]\s*$/.test(line) ? line.trim().slice(1) : line;
}

function fieldName({ name, title, isRequired, default: given, input }: FormField): SafeText {
  const named = title === name ? toVisibleLine(name) : safe`${toVisibleLine(title)} (${toVisibleLine(name)})`;
  const kept = given === undefined ? safe`` : safe` [${toVisibleLine(valueWords(given, input))}]`;
  return safe`${named}${isRequired ? safe` (required)` : safe``}${kept}`;
}

/** Returns a value as the user would type it: a choice by its title, `yes` or `no`, or the text itself. */
function valueWords(value: unknown, input: FormField["input"]): string {
  const plain = typeof value === "string" ? value : JSON.stringify(value);
  switch (input.kind) {
    case "choice":
    case "choices": {
      const titleOf = (one: unknown): string =>
        input.choices.find((choice) => JSON.stringify(choice.value) === JSON.stringify(one))?.title ?? plain;
      return (input.kind === "choices" && Array.isArray(value) ? value : [value]).map(titleOf).join(", ");
    }
    case "switch":
      return typeof value === "boolean" ? (value ? "yes" : "no") : plain;
    case "text":
    case "number":
    case "json":
      return plain;
  }
}

const mostChoices = 30;

function fieldLines({ description, isSecret, input }: FormField): readonly SafeText[] {
  const choices = input.kind === "choice" || input.kind === "choices" ? input.choices : [];
  const names = choices.slice(0, mostChoices).map(({ title }) => toVisibleLine(title));
  const more = choices.length > mostChoices ? [safe`and ${choices.length - mostChoices} more`] : [];
  const several = input.kind === "choices" ? safe`some of, with commas` : safe`one of`;
  return [
    ...(description === undefined ? [] : [quoted(description)]),
    ...(choices.length === 0 ? [] : [safe`  ${several}: ${joinSafe([...names, ...more], safe`, `)}`]),
    ...(input.kind === "switch" ? [safe`  yes or no`] : []),
    ...(isSecret ? [safe`  ! asks for a secret: enter it only if this server may have it`] : []),
  ];
}

async function openAddress(request: OfMode<"url">, { io, out, browserPlace }: Here): Promise<ElicitationAnswer> {
  const { url } = request;
  out.exactly(joinSafe([heading(request), safe`The server asks you to open this address:`, toVisibleLine(url)]));
  const answer = (
    await askLine(io, safe`Open the address? y: in the browser, h: I open it myself, n: no [y/h/N] `)
  ).trim();
  if (!/^(?:y|yes|h)$/i.test(answer)) return { action: "decline" };
  if (/^y/i.test(answer) && !(await openUrl(url, browserPlace)))
    out.exactly(safe`No browser could be opened here. Open the address yourself.`);
  return { action: "accept" };
}

function heading({ serverName, message }: Elicitation): SafeText {
  const title = safe`"${toVisibleLine(serverName)}" asks you:`;
  return message.trim() === "" ? title : joinSafe([title, quoted(message)]);
}

/** Puts a bar before a server's text, so that it cannot imitate Fairlead's own text. */
function quoted(text: string): SafeText {
  return joinSafe(text.split("\n").map((line) => safe`  | ${toVisibleLine(line)}`));
}
