/** What a key does to the text in a field: what it does to the prompt, but for what was typed before, which belongs there. Pure. */

import { editKey } from "../input/edit-key.ts";
import type { Editor } from "../input/editor.ts";
import { createHistory } from "../input/history.ts";
import type { Key } from "../input/keys.ts";

export function editLine(editor: Editor, key: Key): Editor {
  return editKey(editor, createHistory([]), key)?.editor ?? editor;
}
