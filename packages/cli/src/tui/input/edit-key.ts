/** Applies a key to the text in the prompt. Pure functions. */

import { type Editor, erase, insert, type Move, move, moveLine, paste, withText } from "./editor.ts";
import { createHistory, type HistoryStep, type InputHistory, newer, older } from "./history.ts";
import type { Key } from "./keys.ts";

/** The prompt after a key press. `history` is absent if the key did not move through the history. */
export interface Edited {
  readonly editor: Editor;
  readonly history?: InputHistory;
}

/** Returns the prompt after a key press, or undefined if the key does nothing. */
export function editKey(editor: Editor, history: InputHistory, key: Key): Edited | undefined {
  const isWord = key.ctrl === true || key.meta === true;
  switch (key.name) {
    case "text":
      return textKey(editor, history, key);
    case "paste":
      return { editor: paste(editor, key.text ?? "") };
    case "enter":
      return { editor: insert(editor, "\n") };
    case "backspace":
      return { editor: erase(editor, isWord ? "word_left" : "left") };
    case "delete":
      return { editor: erase(editor, isWord ? "word_right" : "right") };
    case "left":
      return { editor: move(editor, isWord ? "word_left" : "left") };
    case "right":
      return { editor: move(editor, isWord ? "word_right" : "right") };
    case "home":
      return { editor: move(editor, isWord ? "start" : "line_start") };
    case "end":
      return { editor: move(editor, isWord ? "end" : "line_end") };
    case "up":
      return vertical(editor, history, -1);
    case "down":
      return vertical(editor, history, 1);
    case "tab":
    case "escape":
    case "insert":
    case "pageup":
    case "pagedown":
    case "unknown":
      return undefined;
  }
}

const controlMoves: Readonly<Record<string, Move>> = { a: "line_start", e: "line_end", b: "left", f: "right" };
const controlErasures: Readonly<Record<string, Move>> = {
  d: "right",
  k: "line_end",
  u: "line_start",
  w: "word_left",
};
const altMoves: Readonly<Record<string, Move>> = { b: "word_left", f: "word_right" };

function textKey(
  editor: Editor,
  history: InputHistory,
  { text = "", ctrl = false, meta = false }: Key,
): Edited | undefined {
  if (!ctrl && !meta) return { editor: insert(editor, text) };
  const to = (ctrl ? controlMoves : altMoves)[text];
  if (to !== undefined) return { editor: move(editor, to) };
  const until = ctrl ? controlErasures[text] : text === "d" ? "word_right" : undefined;
  if (until !== undefined) return { editor: erase(editor, until) };
  if (!ctrl) return undefined;
  if (text === "j") return { editor: insert(editor, "\n") };
  if (text === "y") return { editor: insert(editor, editor.cut) };
  if (text === "p") return vertical(editor, history, -1);
  return text === "n" ? vertical(editor, history, 1) : undefined;
}

function vertical(editor: Editor, history: InputHistory, by: -1 | 1): Edited | undefined {
  const moved = moveLine(editor, by);
  if (moved !== undefined) return { editor: moved };
  const step = by === -1 ? older(history, editor.text) : newer(history);
  return step && recalled(editor, step);
}

/** Uses `paste`, so that a long entry is shown as a label such as `[pasted 9 lines]`. */
function recalled(editor: Editor, { history, text }: HistoryStep): Edited {
  return { editor: paste(withText(editor, ""), text), history };
}

/** Applies a key to a text field of a form. Editing works as in the prompt, but there is no history. */
export function editLine(editor: Editor, key: Key): Editor {
  return editKey(editor, createHistory([]), key)?.editor ?? editor;
}
