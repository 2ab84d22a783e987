/** Removes a property from a JSONC text; all comments outside it stay. */

import { applyEdits, type Edit } from "jsonc-parser";
import { endOf, type Node } from "./jsonc.ts";
import {
  hasLineBreak,
  indentAt,
  lineBreakAt,
  lineBreakBefore,
  skipBlanks,
  skipBlanksBack,
  skipTrivia,
} from "./text-layout.ts";

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Only an empty object that was spread over several lines does not come back: it closes up to `{}`, because
 * with one property in it, it looks the same as one that was written `{}`.
 */
export function removeProperty(text: string, object: Node, property: Node): string {
  const properties = object.children ?? [];
  const previous = properties[properties.indexOf(property) - 1];
  const commaBefore = previous && skipTrivia(text, endOf(previous)).next;
  const next = skipTrivia(text, endOf(property)).next;
  const commaAfter = text[next] === "," ? next : undefined;
  const isDirect = commaAfter === skipBlanks(text, endOf(property));
  const span = { start: property.offset, end: isDirect ? next + 1 : endOf(property) };
  const comma = isDirect ? undefined : (commaAfter ?? commaBefore);

  const edits = [cut(withBlanks(text, object, span, (commaBefore ?? object.offset) + 1))];
  return applyEdits(text, comma === undefined ? edits : [...edits, cut({ start: comma, end: comma + 1 })]);
}

function cut({ start, end }: Span): Edit {
  return { offset: start, length: end - start, content: "" };
}

/** The span and the blank space that goes with it; `from` is the end of the token before it. */
function withBlanks(text: string, object: Node, { start, end }: Span, from: number): Span {
  const open = object.offset + 1;
  const close = endOf(object) - 1;
  const rest = text.slice(open, start) + text.slice(end, close);
  const leavesEmpty = rest.trim() === "";
  if (leavesEmpty && !hasLineBreak(rest)) return { start: open, end: close };

  const before = skipBlanksBack(text, start);
  const after = skipBlanks(text, end);
  const lineBreak = lineBreakBefore(text, before);
  const nextLineBreak = lineBreakAt(text, after);
  const endOfPreviousLine = before - lineBreak.length;

  if (lineBreak === "") {
    if (nextLineBreak !== "") return { start: before, end: after };
    return from === open && after !== close ? { start, end: after } : { start: before, end };
  }
  if (nextLineBreak !== "") {
    const closing = nextLineBreak + indentAt(text, object.offset);
    const closesUp = leavesEmpty && text.startsWith(closing, after);
    return { start: endOfPreviousLine, end: closesUp ? after + closing.length : after };
  }
  if (after !== close) return { start, end: after };
  const comment = skipTrivia(text, from).lastComment;
  const isInLineComment = comment?.end === endOfPreviousLine && text.startsWith("//", comment.start);
  // Without its line break, a line comment would swallow the closing brace.
  return { start: isInLineComment ? before : endOfPreviousLine, end };
}
