/**
 * Parses TOML to tables, lists and plain values, each with its position in the file. Tables are maps, because a key may
 * be named `__proto__`.
 */

import type { AST } from "toml-eslint-parser";

/** A position in a file. Line and column count from 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** A value in a TOML file, with its position. */
export interface TomlItem extends TextPosition {
  /** The parsed value. Undefined for dates and for values that are nested too deeply, because rules do not use them. */
  readonly value: string | number | boolean | readonly TomlItem[] | TomlTable | undefined;
}

/** A TOML table: its items by key. */
export type TomlTable = ReadonlyMap<string, TomlItem>;

/** Whether a value is a table, and not a list or a plain value. */
export function isTable(value: TomlItem["value"]): value is TomlTable {
  return value instanceof Map;
}

/** A parsed file, or the reason why it is not valid TOML. */
export type TomlDocument =
  | { readonly kind: "table"; readonly table: TomlTable }
  | ({ readonly kind: "broken"; readonly reason: string } & TextPosition);

/** Parses a text. Does not throw if the text is invalid TOML. */
export async function parseToml(text: string): Promise<TomlDocument> {
  const { parseTOML, ParseError } = await import("toml-eslint-parser");
  try {
    // Removes the byte order mark, because the parser rejects it.
    const [top] = parseTOML(text.replace(/^\uFEFF/, "")).body;
    return { kind: "table", table: tableOf(top) };
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    return { kind: "broken", reason: error.message, line: error.lineNumber, column: error.column + 1 };
  }
}

const deepest = 16;

function tableOf(top: AST.TOMLTopLevelTable): TomlTable {
  const table: Table = new Map();
  for (const node of top.body) {
    if (node.type === "TOMLKeyValue") add(table, node, 0);
    else {
      const inner = tableAt(table, node.resolvedKey, placeOf(node));
      for (const member of node.body) add(inner, member, 0);
    }
  }
  return table;
}

interface Item extends TextPosition {
  readonly value: string | number | boolean | Item[] | Table | undefined;
}

type Table = Map<string, Item>;

function add(table: Table, { key, value }: AST.TOMLKeyValue, depth: number): void {
  const names = key.keys.map((part) => (part.type === "TOMLBare" ? part.name : part.value));
  const at = placeOf(key);
  tableAt(table, names.slice(0, -1), at).set(names.at(-1) ?? "", { ...at, value: plainOf(value, depth) });
}

/**
 * Returns the table at the end of a path, and creates tables that do not exist yet. A number in the path selects a
 * table of a list.
 */
function tableAt(table: Table, path: readonly (string | number)[], at: TextPosition): Table {
  const [name, index, ...rest] = path;
  if (name === undefined) return table;
  const existing = table.get(String(name))?.value;
  if (typeof index === "number") {
    const list = Array.isArray(existing) ? existing : [];
    if (list !== existing) table.set(String(name), { ...at, value: list });
    const before = list[index]?.value;
    const inner: Table = before instanceof Map ? before : new Map();
    if (inner !== before) list[index] = { ...at, value: inner };
    return tableAt(inner, rest, at);
  }
  const inner: Table = existing instanceof Map ? existing : new Map();
  if (inner !== existing) table.set(String(name), { ...at, value: inner });
  return tableAt(inner, path.slice(1), at);
}

function plainOf(node: AST.TOMLContentNode, depth: number): Item["value"] {
  if (depth > deepest) return undefined;
  switch (node.type) {
    case "TOMLArray":
      return node.elements.map((element) => ({ ...placeOf(element), value: plainOf(element, depth + 1) }));
    case "TOMLInlineTable": {
      const table: Table = new Map();
      for (const member of node.body) add(table, member, depth + 1);
      return table;
    }
    case "TOMLValue":
      return typeof node.value === "object" ? undefined : node.value;
  }
}

function placeOf({ loc: { start } }: AST.TOMLNode): TextPosition {
  return { line: start.line, column: start.column + 1 };
}
