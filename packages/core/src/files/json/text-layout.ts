/** Finds line breaks, indentation, blanks and comments in JSONC text. */

/** The line break that the text uses first. */
export function eolOf(text: string): string {
  return /\r\n|\n|\r/.exec(text)?.[0] ?? "\n";
}

/** Whether the text contains a carriage return or line feed. */
export function hasLineBreak(text: string): boolean {
  return /[\r\n]/.test(text);
}

/** The line break that begins at the offset; empty if there is none. */
export function lineBreakAt(text: string, offset: number): string {
  if (text.startsWith("\r\n", offset)) return "\r\n";
  return isLineBreak(text[offset]) ? text.charAt(offset) : "";
}

/** The line break that ends at the offset; empty if there is none. */
export function lineBreakBefore(text: string, offset: number): string {
  if (text.endsWith("\r\n", offset)) return "\r\n";
  return isLineBreak(text[offset - 1]) ? text.charAt(offset - 1) : "";
}

/** The offset of the first character at or after `offset` that is not a blank. */
export function skipBlanks(text: string, offset: number): number {
  let end = offset;
  while (isBlank(text[end])) end += 1;
  return end;
}

/** The start of the blanks that end at the offset. */
export function skipBlanksBack(text: string, offset: number): number {
  let start = offset;
  while (isBlank(text[start - 1])) start -= 1;
  return start;
}

/** Whether only blanks are between the previous line break and the offset. */
export function isFirstOnLine(text: string, offset: number): boolean {
  return lineBreakBefore(text, skipBlanksBack(text, offset)) !== "";
}

/** The indentation of the line that contains the offset. */
export function indentAt(text: string, offset: number): string {
  let start = offset;
  while (start > 0 && !isLineBreak(text[start - 1])) start -= 1;
  return text.slice(start, Math.min(skipBlanks(text, start), offset));
}

/** The end of the comment that begins at the offset; without such a comment, the offset itself. */
export function skipComment(text: string, offset: number): number {
  if (text.startsWith("/*", offset)) return text.indexOf("*/", offset + 2) + 2;
  let end = offset;
  if (text.startsWith("//", offset)) while (end < text.length && !isLineBreak(text[end])) end += 1;
  return end;
}

/** Where skipped blanks and comments end, and where their last comment is. */
export interface Trivia {
  readonly next: number;
  readonly lastComment: { readonly start: number; readonly end: number } | undefined;
}

/** Skips blanks, line breaks and comments from the offset to the next token. */
export function skipTrivia(text: string, offset: number): Trivia {
  let lastComment: Trivia["lastComment"];
  let next = offset;
  for (;;) {
    while (isBlank(text[next]) || isLineBreak(text[next])) next += 1;
    const end = skipComment(text, next);
    if (end === next) return { next, lastComment };
    lastComment = { start: next, end };
    next = end;
  }
}

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t";
}

function isLineBreak(character: string | undefined): boolean {
  return character === "\n" || character === "\r";
}
