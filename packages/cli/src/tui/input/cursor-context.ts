/** What is being typed at the cursor: a command name, an argument of a command, an `@` mention, or a call. Pure. */

import { splitWords } from "@fairlead/core/resources/prompt-arguments";
import type { Editor } from "./editor.ts";

interface At {
  /** Index where the typed word starts; it ends at the cursor. */
  readonly from: number;
  readonly typed: string;
}

export type CursorContext = At &
  (
    | { readonly kind: "command" }
    /** `before`: the words between the command and this one. */
    | { readonly kind: "word"; readonly command: string; readonly before: readonly string[] }
    /** `typed` is the text after the `@`, without quotes. */
    | { readonly kind: "mention" }
    | { readonly kind: "target" }
    | { readonly kind: "parameter"; readonly target: string; readonly before: readonly string[] }
  );

/** An `@` at the start of a word, and the text up to the cursor; in quotes it may have spaces. */
const mention = /(?<=^|[\s([<,;“‘])@(?:"([^"\n]*)|([^\s"'`<>|]*))$/u;

/** `isManual`: there is no model, so the text is a call without mentions. */
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
  // A call written as in code gets completion for its name only.
  if (first === "" || first.includes("(")) return undefined;
  if (typed === undefined) return { kind: "target", from: before.length - first.length, typed: first };
  const from = before.length - typed.length;
  return { kind: "parameter", from, typed, target: first, before: words.slice(0, -1) };
}

/** The words up to the cursor; the last one is empty after a space. Undefined inside quotes, where nothing is completed. */
function wordsOf(line: string): readonly string[] | undefined {
  const [last = ""] = /\S*$/.exec(line) ?? [];
  if (/["'\\]/.test(last)) return undefined;
  const words = splitWords(line.slice(0, line.length - last.length)).map(({ text }) => text);
  return [...words, last];
}
