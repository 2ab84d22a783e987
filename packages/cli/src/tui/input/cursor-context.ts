/** What the cursor stands in: the name of a command, one of its words, something behind an `@`, or a call that is typed. Pure. */

import { splitWords } from "@fairlead/core/resources/prompt-line";
import type { Editor } from "./editor.ts";

interface At {
  /** Where what is being typed begins in the text; it ends at the cursor. */
  readonly from: number;
  readonly typed: string;
}

export type CursorContext = At &
  (
    | { readonly kind: "command" }
    /** `before`: the words between the command and this one. */
    | { readonly kind: "word"; readonly command: string; readonly before: readonly string[] }
    /** `typed` is what stands behind the `@`, without quotes. */
    | { readonly kind: "mention" }
    | { readonly kind: "target" }
    | { readonly kind: "parameter"; readonly target: string; readonly before: readonly string[] }
  );

/** `@` where it may begin something, and what follows up to the cursor; in quotes, blanks too. */
const mention = /(?<=^|[\s([<,;“‘])@(?:"([^"\n]*)|([^\s"'`<>|]*))$/u;

/** `isManual`: what is typed is a call, and nothing in it a reference. */
export function cursorContextAt(
  { text, cursor }: Pick<Editor, "text" | "cursor">,
  isManual: boolean,
): CursorContext | undefined {
  const before = text.slice(0, cursor);
  if (before.startsWith("/")) return inCommand(before);
  if (isManual) return inCall(before);
  const [whole, quoted, plain = ""] = mention.exec(before) ?? [];
  return whole === undefined ? undefined : { kind: "mention", from: cursor - whole.length, typed: quoted ?? plain };
}

function inCommand(before: string): CursorContext | undefined {
  const [first = "", ...words] = wordsOf(before) ?? [];
  if (first === "" || before.includes("\n")) return undefined;
  const typed = words.at(-1);
  if (typed === undefined) return first.includes("/", 1) ? undefined : { kind: "command", from: 0, typed: first };
  const from = before.length - typed.length;
  return { kind: "word", from, typed, command: first.slice(1), before: words.slice(0, -1) };
}

function inCall(before: string): CursorContext | undefined {
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const [first = "", ...words] = wordsOf(line) ?? [];
  const typed = words.at(-1);
  // Of a call that is written as in code, only the name is completed.
  if (first === "" || first.includes("(")) return undefined;
  if (typed === undefined) return { kind: "target", from: before.length - first.length, typed: first };
  const from = before.length - typed.length;
  return { kind: "parameter", from, typed, target: first, before: words.slice(0, -1) };
}

/** The last one is at the cursor, and empty behind a blank. Undefined in the middle of quotes: what is in them is the person's. */
function wordsOf(line: string): readonly string[] | undefined {
  const [last = ""] = /\S*$/.exec(line) ?? [];
  if (/["'\\]/.test(last)) return undefined;
  const words = splitWords(line.slice(0, line.length - last.length)).map(({ text }) => text);
  return [...words, last];
}
