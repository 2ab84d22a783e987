/** Applies a key to a text field: as in the prompt, but without the history. Pure. */

import { editKey } from "../input/edit-key.ts";
import type { Editor } from "../input/editor.ts";
import { createHistory } from "../input/history.ts";
import type { Key } from "../input/keys.ts";

export function editLine(editor: Editor, key: Key): Editor {
  return editKey(editor, createHistory([]), key)?.editor ?? editor;
}
