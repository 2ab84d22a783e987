/**
 * Changes one value in a JSONC text. Keeps all other bytes, such as comments and indentation. Refuses a text with a
 * syntax error. Pure.
 */

import { applyEdits, type Edit, getNodeValue } from "jsonc-parser";
import { HostError } from "../../errors.ts";
import { endOf, findProperty, type JsoncDocument, type Node, parseJsonc, propertyValue } from "./jsonc.ts";
import {
  eolOf,
  hasLineBreak,
  indentAt,
  isFirstOnLine,
  lineBreakAt,
  lineBreakBefore,
  skipBlanks,
  skipBlanksBack,
  skipComment,
  skipTrivia,
} from "./text-layout.ts";

/**
 * Sets a value and creates missing parents. If an object has several properties with this name, changes the last one:
 * only the last one has an effect.
 */
export function setValue(text: string | undefined, path: readonly string[], value: unknown): string {
  const source = text ?? "";
  const document = parseValid(source);
  const { root } = document;
  if (root === undefined) return appendDocument(source, nest(path, value));
  let node = root;
  let oneLine = false;
  for (const [index, key] of path.entries()) {
    if (node.type !== "object") throw notAnObject(document, node, path.slice(0, index));
    const found = findValue(node, key);
    if (found === undefined) return insertProperty(source, root, node, key, nest(path.slice(index + 1), value));
    oneLine = !hasLineBreak(source.slice(node.offset, node.offset + node.length));
    node = found;
  }
  // An equal value stays as written, so that comments inside the value are kept.
  if (JSON.stringify(getNodeValue(node)) === JSON.stringify(value)) return source;
  const style = { oneLine, indent: indentAt(source, node.offset), unit: indentUnit(source, root), eol: eolOf(source) };
  return applyEdits(source, [{ offset: node.offset, length: node.length, content: formatValue(value, style) }]);
}

/**
 * Removes every property with this name. If only the last one were removed, an earlier one would take effect. Comments
 * outside the property stay.
 */
export function removeValue(text: string, path: readonly string[]): string {
  const key = path.at(-1);
  if (key === undefined) throw new TypeError("the whole document cannot be removed");
  let result = text;
  for (;;) {
    const object = path.slice(0, -1).reduce<Node | undefined>(findValue, parseValid(result).root);
    const property = object && findProperty(object, key);
    if (object === undefined || property === undefined) return result;
    result = removeProperty(result, object, property);
  }
}

function findValue(object: Node | undefined, key: string): Node | undefined {
  const property = object && findProperty(object, key);
  return property && propertyValue(property);
}

function nest(path: readonly string[], value: unknown): unknown {
  // A computed key is safe for `__proto__`: it creates an ordinary property.
  return path.reduceRight((inner, key) => ({ [key]: inner }), value);
}

function parseValid(text: string): JsoncDocument {
  const document = parseJsonc(text);
  const [error] = document.errors;
  if (error === undefined) return document;
  throw refusal(`line ${error.line}, column ${error.column}: ${error.message}`);
}

function notAnObject(document: JsoncDocument, node: Node, path: readonly string[]): HostError {
  const { line, column } = document.positionAt(node.offset);
  const subject = path.length === 0 ? "the file" : JSON.stringify(path.join("."));
  return refusal(`line ${line}, column ${column}: ${subject} is not an object`);
}

function refusal(message: string): HostError {
  return new HostError("settings_invalid", message, {
    next: "Correct it in an editor, then try again. Fairlead changed nothing.",
  });
}

/** How a value is written into the text: on one line or several, and with which indentation. */
interface JsonStyle {
  readonly oneLine: boolean;
  /** The indentation of the line on which the value begins. */
  readonly indent: string;
  readonly unit: string;
  readonly eol: string;
}

function formatValue(value: unknown, { oneLine, indent, unit, eol }: JsonStyle): string {
  const json = JSON.stringify(value, undefined, oneLine ? 1 : unit);
  // JSON strings contain no line breaks, so every line break is between two tokens.
  return oneLine ? json.replaceAll(/\n */g, " ") : json.replaceAll("\n", `${eol}${indent}`);
}

/** The indentation of the document's first property. */
function indentUnit(text: string, root: Node): string {
  const first = root.children?.[0];
  return (first && isFirstOnLine(text, first.offset) && indentAt(text, first.offset)) || "  ";
}

/** Writes a document into a text that is empty or contains only comments. */
function appendDocument(text: string, value: unknown): string {
  const eol = eolOf(text);
  const endsLine = text.trim() === "" || lineBreakBefore(text, text.length) !== "";
  return `${text}${endsLine ? "" : eol}${formatValue(value, { oneLine: false, indent: "", unit: "  ", eol })}${eol}`;
}

function insertProperty(text: string, root: Node, object: Node, key: string, value: unknown): string {
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
  /*
   * The comma goes directly after the last entry. The new entry goes after the last entry's comment, so that the
   * comment stays with its entry.
   */
  return applyEdits(text, [
    { offset: endOf(last), length: 0, content: "," },
    { offset: endOfLine(text, endOf(last)), length: 0, content: entry },
  ]);
}

/** The offset after all comments and blanks on the same line. */
function endOfLine(text: string, offset: number): number {
  let end = offset;
  for (;;) {
    const next = skipBlanks(text, end);
    const commentEnd = skipComment(text, next);
    if (commentEnd === next) return lineBreakAt(text, next) === "" ? end : next;
    end = commentEnd;
  }
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Removes a property, with its comma and the blanks around it. */
function removeProperty(text: string, object: Node, property: Node): string {
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

/**
 * Extends the span of a property to the blanks that must be removed with it.
 *
 * @param from The end of the token before the property.
 */
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
  // Keeps the line break after a line comment; otherwise the closing brace would become part of the comment.
  return { start: isInLineComment ? before : endOfPreviousLine, end };
}
