/** Inserts a property into a JSONC text in the style of the lines around it, or writes a new document. */

import { applyEdits } from "jsonc-parser";
import { endOf, type Node } from "./jsonc.ts";
import {
  eolOf,
  hasLineBreak,
  indentAt,
  isFirstOnLine,
  lineBreakAt,
  lineBreakBefore,
  skipBlanks,
  skipComment,
  skipTrivia,
} from "./text-layout.ts";

export interface JsonStyle {
  readonly oneLine: boolean;
  /** The indentation of the line on which the value begins. */
  readonly indent: string;
  /** One level of indentation. */
  readonly unit: string;
  readonly eol: string;
}

export function formatValue(value: unknown, { oneLine, indent, unit, eol }: JsonStyle): string {
  const json = JSON.stringify(value, undefined, oneLine ? 1 : unit);
  // No text in JSON holds a line break, so each one stands between two tokens.
  return oneLine ? json.replaceAll(/\n */g, " ") : json.replaceAll("\n", `${eol}${indent}`);
}

/** One level of indentation, as the document's first property shows it. */
export function indentUnit(text: string, root: Node): string {
  const first = root.children?.[0];
  return (first && isFirstOnLine(text, first.offset) && indentAt(text, first.offset)) || "  ";
}

/** For a text that holds nothing yet, or only comments. */
export function appendDocument(text: string, value: unknown): string {
  const eol = eolOf(text);
  const endsLine = text.trim() === "" || lineBreakBefore(text, text.length) !== "";
  return `${text}${endsLine ? "" : eol}${formatValue(value, { oneLine: false, indent: "", unit: "  ", eol })}${eol}`;
}

export function insertProperty(text: string, root: Node, object: Node, key: string, value: unknown): string {
  const start = object.offset + 1;
  const inside = text.slice(start, endOf(object) - 1);
  const isEmpty = inside.trim() === "";
  const last = object.children?.at(-1);
  const outerIndent = indentAt(text, object.offset);
  const unit = indentUnit(text, root);
  const style: JsonStyle = {
    oneLine: !hasLineBreak(inside) && !isEmpty,
    indent: last && isFirstOnLine(text, last.offset) ? indentAt(text, last.offset) : outerIndent + unit,
    unit,
    eol: eolOf(text),
  };
  const gap = style.oneLine ? " " : style.eol + style.indent;
  const entry = `${gap}${JSON.stringify(key)}: ${formatValue(value, style)}`;
  const insertAt = (offset: number, content: string) => applyEdits(text, [{ offset, length: 0, content }]);

  if (isEmpty) return insertAt(start, hasLineBreak(inside) ? entry : entry + style.eol + outerIndent);
  if (last === undefined) return insertAt(endOfLine(text, skipTrivia(text, start).lastComment?.end ?? start), entry);
  const { next } = skipTrivia(text, endOf(last));
  if (text[next] === ",") return insertAt(endOfLine(text, next + 1), `${entry},`);
  // The comma goes to the old entry, the new entry behind the old one's comment: the comment stays where it belongs.
  return applyEdits(text, [
    { offset: endOf(last), length: 0, content: "," },
    { offset: endOfLine(text, endOf(last)), length: 0, content: entry },
  ]);
}

/** Behind the comments that follow on the same line; behind trailing blanks too, if nothing but a line break follows. */
function endOfLine(text: string, offset: number): number {
  let end = offset;
  for (;;) {
    const next = skipBlanks(text, end);
    const commentEnd = skipComment(text, next);
    if (commentEnd === next) return lineBreakAt(text, next) === "" ? end : next;
    end = commentEnd;
  }
}
