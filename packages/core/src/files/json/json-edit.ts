/**
 * Changes one value in a JSONC text and leaves every other byte alone: comments, order, indentation, line breaks,
 * trailing commas, duplicates. Pure; a text with a syntax error is refused.
 */

import { applyEdits, getNodeValue } from "jsonc-parser";
import { HostError } from "../../errors.ts";
import { appendDocument, formatValue, indentUnit, insertProperty } from "./json-insert.ts";
import { removeProperty } from "./json-remove.ts";
import { findProperty, type JsoncDocument, type Node, parseJsonc, propertyValue } from "./jsonc.ts";
import { eolOf, hasLineBreak, indentAt } from "./text-layout.ts";

/** Missing parents are created. Of several properties with one name, the one in force (the last) is changed. */
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
  // An equal value stays as it is written, with the comments inside it.
  if (JSON.stringify(getNodeValue(node)) === JSON.stringify(value)) return source;
  const style = { oneLine, indent: indentAt(source, node.offset), unit: indentUnit(source, root), eol: eolOf(source) };
  return applyEdits(source, [{ offset: node.offset, length: node.length, content: formatValue(value, style) }]);
}

/**
 * Removes every property of that name: were only the last one taken out, an overruled one would come into force.
 * A comment that follows a removed property on its line stays, like all others outside it.
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
  // A computed key is a plain property even when it is "__proto__".
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
  return new HostError("settings_invalid", message, { next: "Correct it by hand first; nothing was changed." });
}
