/** The keys of the prompt, in words: what `/help` shows and `docs/terminal.md` says. */

export const promptKeys: readonly (readonly [keys: string, words: string])[] = [
  ["Enter", "send; while a turn runs, what is sent waits for its end"],
  ["Alt-Enter, Ctrl-J", "a new line; so does Enter after a backslash"],
  ["Tab, ↑ ↓", "choose from the list of what may stand at the cursor"],
  ["↑ ↓", "lines, and beyond the first one what you typed before"],
  ["Esc, Ctrl-C", "stop the call, then the turn, then clear what is typed; Ctrl-C twice leaves"],
  ["Ctrl-O", "show the last result whole, or folded again"],
  ["Ctrl-A, Ctrl-E", "the beginning and the end of the line"],
  ["Alt-B, Alt-F", "a word to the left, to the right"],
  ["Ctrl-W, Ctrl-U, Ctrl-K", "cut a word, the line before the cursor, the line behind it"],
  ["Ctrl-Y", "put back what was cut"],
  ["Ctrl-L", "draw the screen anew"],
  ["Ctrl-D", "leave, on an empty prompt and twice"],
];
