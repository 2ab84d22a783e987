/** The text of `/help`: the keys, and how rows are formatted: names on the left, explanations on the right, or below names that are long. */

/** A command or a key, and its explanation. */
export type HelpRow = readonly [name: string, words: string];

/** Longest name that has its explanation on the right, in characters. */
const widestName = 26;
/** On a screen with fewer columns, all explanations are below the names. */
const narrow = 60;

/** Returns the rows as text, wrapped at `columns`. */
export function helpText(rows: readonly HelpRow[], columns: number): string {
  const longest = Math.max(0, ...rows.map(([name]) => name.length).filter((length) => length <= widestName));
  return rows.flatMap(([name, words]) => rowLines(name, words, { columns, longest })).join("\n");
}

function rowLines(
  name: string,
  words: string,
  { columns, longest }: { readonly columns: number; readonly longest: number },
): readonly string[] {
  const isBeside = name.length <= widestName && columns >= narrow;
  const room = isBeside ? longest + 4 : 6;
  const [first = "", ...others] = wrapped(words, columns - room);
  const indent = " ".repeat(room);
  if (isBeside) return [`  ${name.padEnd(longest + 2)}${first}`, ...others.map((line) => `${indent}${line}`)];
  const names = wrapped(name, columns - 6);
  return [
    ...names.map((line, at) => `${at === 0 ? "  " : "      "}${line}`),
    ...[first, ...others].map((line) => `${indent}${line}`),
  ];
}

function wrapped(text: string, columns: number): readonly string[] {
  const rows: string[] = [""];
  // A text such as `[list|desc|…]` may continue on the next line after each `|`.
  for (const [word] of text.matchAll(/[^ |]*(?:\|| +|$)/g)) {
    const last = rows.at(-1) ?? "";
    if (last !== "" && last.length + word.trimEnd().length > columns) rows.push("");
    rows[rows.length - 1] += word;
  }
  return rows.map((row) => row.trimEnd());
}

/** The keys of the prompt, for `/help` and `docs/terminal.md`. */
export const promptKeys: readonly HelpRow[] = [
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
