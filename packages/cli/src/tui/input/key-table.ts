/** The keys of the prompt and what they do, for `/help` and `docs/terminal.md`. */

/** The keys in the order of the help, each with a short explanation. */
export const promptKeys: readonly (readonly [keys: string, words: string])[] = [
  ["Enter", "send; during a turn, send when the turn ends"],
  ["Alt-Enter, Ctrl-J", "new line; also Enter after a backslash"],
  ["Tab, ↑ ↓", "complete"],
  ["↑ ↓", "move between lines; ↑ in the first line shows earlier entries"],
  ["Ctrl-R", "search earlier entries; again: the next older match; Enter sends it, → edits it, Esc leaves the search"],
  [
    "Esc, Ctrl-C",
    "stop the call, then the turn, then clear the prompt; queued messages go back to the prompt; Ctrl-C twice quits",
  ],
  ["Ctrl-O", "expand or fold the last result"],
  ["Ctrl-A, Ctrl-E", "start and end of the line"],
  ["Alt-B, Alt-F", "previous and next word"],
  ["Ctrl-W, Ctrl-U, Ctrl-K", "cut the word before the cursor, the line before it, the line after it"],
  ["Ctrl-Y", "insert the text that was cut"],
  ["Ctrl-L", "redraw the screen"],
  ["Ctrl-D", "quit, if the prompt is empty; press it twice during a turn"],
];
