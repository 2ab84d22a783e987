/** Parses JSON with comments and trailing commas into a tree with positions. */

import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { limits } from "../../limits.ts";

export type { Node } from "jsonc-parser";

/** A position in the text. Line and column count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface JsoncError extends Position {
  readonly message: string;
}

/** A property without effect, because a later property of the same object has the same name. */
export interface JsoncDuplicate extends Position {
  readonly name: string;
}

/** A parsed text with its errors and duplicate properties. */
export interface JsoncDocument {
  /** The outermost value; undefined if the text has none or is nested too deeply. */
  readonly root: Node | undefined;
  /** The errors in the order of the text. After an error, `root` may be incomplete. */
  readonly errors: readonly JsoncError[];
  readonly duplicates: readonly JsoncDuplicate[];
  positionAt(offset: number): Position;
}

const byteOrderMark = "\uFEFF";
/** Maximum number of errors to report. A hostile file could have millions. */
const errorsKept = 100;

/** Parses a text. Never throws: syntax errors are in `errors`. */
export function parseJsonc(text: string): JsoncDocument {
  // The parser would report the byte order mark as an error. A space in its place keeps all positions.
  const source = text.startsWith(byteOrderMark) ? ` ${text.slice(1)}` : text;
  const positionAt = createPositionAt(text);
  const tooDeep = findTooDeep(source);
  if (tooDeep !== undefined) {
    const message = `nested more than ${limits.settingsDepth} levels deep`;
    return { root: undefined, errors: [{ message, ...positionAt(tooDeep) }], duplicates: [], positionAt };
  }
  const errors: ParseError[] = [];
  const root = parseTree(source, errors, { allowTrailingComma: true, allowEmptyContent: true });
  return {
    root,
    errors: errors
      .slice(0, errorsKept)
      .map(({ error, offset }) => ({ message: messages[printParseErrorCode(error)], ...positionAt(offset) })),
    duplicates:
      root === undefined ? [] : findDuplicates(root).map(({ name, offset }) => ({ name, ...positionAt(offset) })),
    positionAt,
  };
}

/** The property with this name. If there are several, the last one counts, as in `JSON.parse`. */
export function findProperty(object: Node, name: string): Node | undefined {
  return object.type === "object"
    ? object.children?.findLast((property) => keyOf(property)?.value === name)
    : undefined;
}

function keyOf(property: Node): Node | undefined {
  return property.children?.[0];
}

/** The value of a property node; undefined if a syntax error left it out. */
export function propertyValue(property: Node): Node | undefined {
  return property.children?.[1];
}

/** The offset just after the node. */
export function endOf(node: Node): number {
  return node.offset + node.length;
}

/**
 * The offset at which the text is nested too deeply, if any. The check comes before parsing, because the recursive
 * parser could overflow the stack.
 */
function findTooDeep(source: string): number | undefined {
  const scanner = createScanner(source, true);
  let depth = 0;
  // Compares offsets: after an unclosed comment, the scanner never reports the end of the text.
  for (scanner.scan(); scanner.getTokenOffset() < source.length; scanner.scan()) {
    const offset = scanner.getTokenOffset();
    const character = source[offset];
    if (character === "{" || character === "[") depth += 1;
    if (character === "}" || character === "]") depth -= 1;
    if (depth > limits.settingsDepth) return offset;
  }
  return undefined;
}

function findDuplicates(node: Node): { name: string; offset: number }[] {
  const children = node.children ?? [];
  const inside = children.flatMap(findDuplicates);
  if (node.type !== "object") return inside;
  const last = new Map(children.map((property) => [nameOf(property), property]));
  const overruled = children.filter((property) => last.get(nameOf(property)) !== property);
  return [...overruled.map((property) => ({ name: nameOf(property), offset: property.offset })), ...inside];
}

function nameOf(property: Node): string {
  return String(keyOf(property)?.value);
}

function createPositionAt(text: string): (offset: number) => Position {
  let starts: number[] | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    let line = 0;
    for (let step = 2 ** 31; step >= 1; step /= 2) {
      const start = starts[line + step];
      if (start !== undefined && start <= offset) line += step;
    }
    return { line: line + 1, column: Math.max(offset - (starts[line] ?? 0), 0) + 1 };
  };
}

/** The first line starts after the byte order mark, because editors do not count it as a column. */
function lineStarts(text: string): number[] {
  const starts = [text.startsWith(byteOrderMark) ? 1 : 0];
  for (const { index, 0: lineBreak } of text.matchAll(/\r\n|\n|\r/g)) starts.push(index + lineBreak.length);
  return starts;
}

const messages: Readonly<Record<ReturnType<typeof printParseErrorCode>, string>> = {
  InvalidSymbol: "a word that is not JSON; text needs double quotes",
  InvalidNumberFormat: "this is not a number",
  PropertyNameExpected: 'a property name in double quotes, or "}", is missing',
  ValueExpected: "a value is missing",
  ColonExpected: 'a ":" is missing after the property name',
  CommaExpected: 'a "," is missing',
  CloseBraceExpected: 'a "}" is missing',
  CloseBracketExpected: 'a "]" is missing',
  EndOfFileExpected: "there is more text after the end of the value",
  InvalidCommentToken: "this is not a comment; comments are // and /* */",
  UnexpectedEndOfComment: 'a comment is not closed with "*/"',
  UnexpectedEndOfString: "this text has no closing double quote",
  UnexpectedEndOfNumber: "a number ends too early",
  InvalidUnicode: "\\u needs four hexadecimal digits after it",
  InvalidEscapeCharacter: "a backslash in text must be written twice",
  InvalidCharacter: "a control character in text; write a line break as \\n, a tab as \\t",
  "<unknown ParseErrorCode>": "this is not JSON",
};
