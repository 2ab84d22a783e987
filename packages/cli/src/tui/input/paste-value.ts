/** Pastes into the prompt. A paste inside an argument of a call stays part of that argument's value. Pure functions. */

import { splitWords } from "@fairlead/core/resources/prompt-arguments";
import { splitTypedLines } from "@fairlead/core/resources/typed-lines";
import { type Editor, insert, isLong, paste, withText } from "./editor.ts";

/**
 * Matches the argument before the cursor. The first capture group is `name=`. The value after `name=` may be in quotes.
 */
const argument = /(?<!\S)([^\s="']+=)(?:"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|[^\s"']*)$/;

/** Inserts pasted text at the cursor. `isManual`: there is no model, so every line is a call. */
export function pasteAtCursor(editor: Editor, pasted: string, isManual: boolean): Editor {
  const { text, cursor } = editor;
  const before = text.slice(0, cursor);
  const { lastStart, open } = splitTypedLines(before);
  const line = before.slice(lastStart);
  if (!isManual && !/^\s*(?:\/\S+|[^\s=./@]+\.[^\s=]+)\s/.test(line)) return paste(editor, pasted);
  // The quote stays open, because the user may type more of the quoted value.
  if (open !== undefined) return paste(editor, escaped(pasted, open.quote));
  const word = argument.exec(line);
  if (word !== null) return pasteValue(editor, pasted, lastStart + word.index + (word[1] ?? "").length);
  const isBetween = /^\s*\S+\s/.test(line) && !line.trimStart().startsWith("/") && !/^\s*\S*\(/.test(line);
  return paste(editor, isBetween ? joinLines(pasted) : pasted);
}

/** Pastes into the value of an argument. `from`: index where the value starts, after the `=`. */
function pasteValue(editor: Editor, pasted: string, from: number): Editor {
  const { text, cursor } = editor;
  const before = text.slice(from, cursor);
  if (!/[\s"'\\]/.test(pasted) && !isLong(pasted)) return insert(editor, pasted);
  const quote = before.charAt(0) === "'" ? "'" : '"';
  // If the cursor is after the closing quote, the pasted text goes before that quote.
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

/** Returns the value of an unquoted word, without backslash escapes. */
function plain(word: string): string {
  return splitWords(word)[0]?.text ?? "";
}

function escaped(text: string, quote: string): string {
  return text.replaceAll(/[\\"']/g, (character) =>
    character === "\\" || character === quote ? `\\${character}` : character,
  );
}

/** Replaces line breaks outside quotes by spaces, so that text pasted between the arguments stays in the same call. */
function joinLines(pasted: string): string {
  return splitTypedLines(pasted).lines.join(" ");
}
