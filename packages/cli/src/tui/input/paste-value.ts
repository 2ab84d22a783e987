/** Pastes into the prompt. Inside an argument of a call, a paste stays part of that one value, whatever it contains. Pure. */

import { splitWords } from "@fairlead/core/resources/prompt-arguments";
import { closingQuote, splitTypedLines } from "@fairlead/core/resources/typed-lines";
import { type Editor, insert, isLong, paste, withText } from "./editor.ts";

/** The argument in front of the cursor: its name in the first group, then its value, in quotes or not. */
const argument = /(?<!\S)([^\s="']+=)(?:"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|[^\s"']*)$/;

/** `isManual`: there is no model, so every line is a call. */
export function pasteAtCursor(editor: Editor, pasted: string, isManual: boolean): Editor {
  const { text, cursor } = editor;
  const before = text.slice(0, cursor);
  const { lastStart, open } = splitTypedLines(before);
  const line = before.slice(lastStart);
  if (!isManual && !/^\s*(?:\/\S+|[^\s=./@]+\.[^\s=]+)\s/.test(line)) return paste(editor, pasted);
  if (open !== undefined) {
    const isClosed = closingQuote(text, open.at) !== undefined;
    return insert(paste(editor, escaped(pasted, open.quote)), isClosed ? "" : open.quote);
  }
  const word = argument.exec(line);
  if (word !== null) return pasteValue(editor, pasted, lastStart + word.index + (word[1] ?? "").length);
  const isBetween = /^\s*\S+\s/.test(line) && !line.trimStart().startsWith("/") && !/^\s*\S*\(/.test(line);
  return paste(editor, isBetween ? joinLines(pasted) : pasted);
}

/** `from`: where the value starts, after the `=`. */
function pasteValue(editor: Editor, pasted: string, from: number): Editor {
  const { text, cursor } = editor;
  const before = text.slice(from, cursor);
  if (!/[\s"'\\]/.test(pasted) && !isLong(pasted)) return insert(editor, pasted);
  const quote = before.charAt(0) === "'" ? "'" : '"';
  // The cursor is behind the closing quote: the value continues inside.
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

/** The value of an unquoted word, without its escapes. */
function plain(word: string): string {
  return splitWords(word)[0]?.text ?? "";
}

function escaped(text: string, quote: string): string {
  return text.replaceAll(/[\\"']/g, (character) =>
    character === "\\" || character === quote ? `\\${character}` : character,
  );
}

/** What is pasted between the arguments of a call stays in that call: line breaks outside quotes become spaces. */
function joinLines(pasted: string): string {
  return splitTypedLines(pasted).lines.join(" ");
}
