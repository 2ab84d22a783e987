/** Pastes into the prompt. Text pasted into an argument of a tool call is quoted, so that it stays one value. */

import { splitTypedLines, splitWords } from "@fairlead/core/request";
import { type Editor, insert, isLong, paste, withText } from "./editor.ts";

/** Matches `name=value` at the end of the text. The first group is `name=`. The value may be in quotes. */
const argument = /(?<!\S)([^\s="']+=)(?:"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|[^\s"']*)$/;

/** Inserts pasted text at the cursor. `isManual`: there is no model, so every line is a tool call. */
export function pasteAtCursor(editor: Editor, pasted: string, isManual: boolean): Editor {
  const { text, cursor } = editor;
  const before = text.slice(0, cursor);
  const { lastStart, open } = splitTypedLines(before);
  const line = before.slice(lastStart);
  if (!isManual && !/^\s*(?:\/\S+|[^\s=./@]+\.[^\s=]+)\s/.test(line)) return paste(editor, pasted);
  // Adds no closing quote, because the user may type more of the value.
  if (open !== undefined) return paste(editor, escaped(pasted, open.quote));
  const word = argument.exec(line);
  if (word !== null) return pasteValue(editor, pasted, lastStart + word.index + (word[1] ?? "").length);
  const isBetween = /^\s*\S+\s/.test(line) && !line.trimStart().startsWith("/") && !/^\s*\S*\(/.test(line);
  return paste(editor, isBetween ? joinLines(pasted) : pasted);
}

/** `from`: index where the argument's value begins, after the `=`. */
function pasteValue(editor: Editor, pasted: string, from: number): Editor {
  const { text, cursor } = editor;
  const before = text.slice(from, cursor);
  if (!/[\s"'\\]/.test(pasted) && !isLong(pasted)) return insert(editor, pasted);
  const quote = before.charAt(0) === "'" ? "'" : '"';
  // The cursor is after the closing quote. Pastes before that quote.
  if (before.length > 1 && before.startsWith(quote)) {
    const inside = paste({ ...editor, cursor: cursor - 1 }, escaped(pasted, quote));
    return { ...inside, cursor: inside.cursor + 1 };
  }
  const [after = ""] = /^[^\s"']*/.exec(text.slice(cursor)) ?? [];
  const start = withText(
    editor,
    `${text.slice(0, from)}"${escaped(plain(before), '"')}"${text.slice(cursor + after.length)}`,
    from + 1 + escaped(plain(before), '"').length,
  );
  const whole = insert(paste(start, escaped(pasted, '"')), escaped(plain(after), '"'));
  return { ...whole, cursor: whole.cursor + 1 };
}

function plain(word: string): string {
  return splitWords(word)[0]?.text ?? "";
}

function escaped(text: string, quote: string): string {
  return text.replaceAll(/[\\"']/g, (character) =>
    character === "\\" || character === quote ? `\\${character}` : character,
  );
}

/** Replaces line breaks outside quotes by spaces, because each line would be a separate call. */
function joinLines(pasted: string): string {
  return splitTypedLines(pasted).lines.join(" ");
}
