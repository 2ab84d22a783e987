/** The text in the prompt and its cursor. A long paste is shown as a label such as `[pasted 9 lines]`. */

/** The prompt's text and cursor. `cut`: the text that Ctrl-Y inserts. */
export interface Editor {
  readonly text: string;
  /** The cursor is before the character with this index. */
  readonly cursor: number;
  /** Maps each label to its pasted text. */
  readonly pastes: ReadonlyMap<string, string>;
  readonly cut: string;
}

/** A prompt without text, and nothing to insert with Ctrl-Y. */
export const emptyEditor: Editor = { text: "", cursor: 0, pastes: new Map(), cut: "" };

/** Where the cursor moves. `start` and `end` mean the whole text, not the line. */
export type Move = "left" | "right" | "word_left" | "word_right" | "line_start" | "line_end" | "start" | "end";

/** A paste with more lines is shown as a label. */
const mostPastedLines = 5;
const mostPastedCharacters = 1000;
/** Maximum length of one character (grapheme), in code units. */
const longestCharacter = 64;

/** Replaces the whole text. The cursor is at the end unless `cursor` is given. */
export function withText(editor: Editor, text: string, cursor: number = text.length): Editor {
  return { ...editor, text, cursor };
}

/** Inserts text at the cursor. The cursor is then after the inserted text. */
export function insert(editor: Editor, words: string): Editor {
  const { text, cursor } = editor;
  return withText(editor, text.slice(0, cursor) + words + text.slice(cursor), cursor + words.length);
}

/** Inserts pasted text at the cursor. Inserts a label instead if the text is long. */
export function paste(editor: Editor, words: string): Editor {
  if (!isLong(words)) return insert(editor, words);
  const lines = words.split("\n").length;
  const size = lines > mostPastedLines ? `${lines} lines` : `${words.length} characters`;
  const name = freeName(`pasted ${size}`, editor);
  return insert({ ...editor, pastes: new Map(editor.pastes).set(name, words) }, name);
}

/** Whether the prompt shows a label instead of the pasted text. */
export function isLong(pasted: string): boolean {
  return pasted.length > mostPastedCharacters || pasted.split("\n").length > mostPastedLines;
}

function freeName(words: string, { pastes, text }: Editor): string {
  const isTaken = (name: string): boolean => pastes.has(name) || text.includes(name);
  let name = `[${words}]`;
  for (let number = 2; isTaken(name); number++) name = `[${words} #${number}]`;
  return name;
}

/** Returns the prompt's text with every paste label replaced by the pasted text. */
export function wholeText({ text, pastes }: Editor): string {
  if (pastes.size === 0) return text;
  const names = [...pastes.keys()].map((name) => name.replaceAll(/[[\]]/g, "\\$&"));
  return text.replaceAll(new RegExp(names.join("|"), "g"), (name) => pastes.get(name) ?? name);
}

/** Moves the cursor. At the edge of the text, it stays where it is. */
export function move(editor: Editor, where: Move): Editor {
  return { ...editor, cursor: target(editor, where) };
}

/**
 * Deletes the text between the cursor and the target of the move. Stores it in `cut`, unless it is a single character.
 */
export function erase(editor: Editor, where: Move): Editor {
  const { text, cursor } = editor;
  const to = target(editor, where);
  const [from, until] = to < cursor ? [to, cursor] : [cursor, to];
  const next = withText(editor, text.slice(0, from) + text.slice(until), from);
  return where === "left" || where === "right" ? next : { ...next, cut: text.slice(from, until) };
}

/**
 * Moves the cursor one line up (-1) or down (1), in the same column if possible. Returns undefined if there is no such
 * line.
 */
export function moveLine(editor: Editor, by: -1 | 1): Editor | undefined {
  const { text, cursor } = editor;
  const start = lineStart(text, cursor);
  const column = cursor - start;
  const other = by === -1 ? start - 1 : lineEnd(text, cursor) + 1;
  if (other < 0 || other > text.length) return undefined;
  const otherStart = lineStart(text, other);
  return { ...editor, cursor: Math.min(otherStart + column, lineEnd(text, otherStart)) };
}

function target(editor: Editor, where: Move): number {
  const { text, cursor } = editor;
  switch (where) {
    case "left":
      return previousPlace(editor);
    case "right":
      return nextPlace(editor);
    case "word_left":
      return wordStart(text, cursor);
    case "word_right":
      return cursor + (/^[\s\p{P}]*[^\s\p{P}]*/u.exec(text.slice(cursor))?.[0].length ?? 0);
    case "line_start":
      return lineStart(text, cursor);
    case "line_end":
      return lineEnd(text, cursor);
    case "start":
      return 0;
    case "end":
      return text.length;
  }
}

/** Returns where the character (grapheme) before the cursor starts. A paste label counts as one character. */
function previousPlace({ text, cursor, pastes }: Editor): number {
  const before = text.slice(0, cursor);
  for (const name of pastes.keys()) if (before.endsWith(name)) return cursor - name.length;
  const last = characters(before.slice(-longestCharacter)).at(-1);
  return cursor - (last?.length ?? 0);
}

function nextPlace({ text, cursor, pastes }: Editor): number {
  for (const name of pastes.keys()) if (text.startsWith(name, cursor)) return cursor + name.length;
  const [first] = characters(text.slice(cursor, cursor + longestCharacter));
  return cursor + (first?.length ?? 0);
}

function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

function wordStart(text: string, at: number): number {
  const isGap = (index: number): boolean => /[\s\p{P}]/u.test(text.charAt(index - 1));
  let start = at;
  while (start > 0 && isGap(start)) start--;
  while (start > 0 && !isGap(start)) start--;
  return start;
}

function characters(text: string): readonly string[] {
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
}
