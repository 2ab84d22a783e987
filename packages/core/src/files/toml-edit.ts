/** Edits TOML by tables: policy files, and the settings of Codex. The rest of the text stays unchanged, byte for byte. */

import { isObject } from "@fairlead/wire/json";
import type { AST } from "toml-eslint-parser";
import { eolOf } from "./json/text-layout.ts";

const byteOrderMark = "\uFEFF";

/** A parsed text. Positions count from the start of `body`. */
export interface TomlText {
  /** The byte order mark at the start of the text, or nothing. It is not part of `body`, because the parser rejects it. */
  readonly bom: string;
  readonly body: string;
  /** The values before the first table, and all tables, in the order of the text. */
  readonly nodes: AST.TOMLTopLevelTable["body"];
  readonly toValue: (node: AST.TOMLContentNode) => unknown;
}

/** Loads the parser. The returned function throws the parser's error if a text is not valid TOML. */
export async function tomlParser(): Promise<(text: string) => TomlText> {
  const { parseTOML, getStaticTOMLValue } = await import("toml-eslint-parser");
  return (text) => {
    const bom = text.startsWith(byteOrderMark) ? byteOrderMark : "";
    const body = text.slice(bom.length);
    return { bom, body, nodes: parseTOML(body).body[0].body, toValue: getStaticTOMLValue };
  };
}

/** The words of a key: `a."b c"` has the words `a` and `b c`. */
export function keyWords({ keys }: AST.TOMLKey): readonly string[] {
  return keys.map((part) => (part.type === "TOMLBare" ? part.name : part.value));
}

/** The start and end of a part of a text. */
export type TextRange = readonly [start: number, end: number];

/** Extends a range to whole lines. */
export function wholeLines(text: string, [start, end]: TextRange): TextRange {
  const lineEnd = text.indexOf("\n", end);
  return [text.lastIndexOf("\n", start - 1) + 1, lineEnd === -1 ? text.length : lineEnd + 1];
}

/** Removes the lines of a range, and one empty line before them, which `withTable` adds together with a table. */
export function withoutLines(text: string, range: TextRange): string {
  const eol = eolOf(text);
  const [start, end] = wholeLines(text, range);
  const head = text.slice(0, start);
  const rest = text.slice(end);
  if (head === "") return rest.startsWith(eol) ? rest.slice(eol.length) : rest;
  return (head.endsWith(eol + eol) ? head.slice(0, -eol.length) : head) + rest;
}

/** Adds the lines of a table at the end, after one empty line, with the line breaks that the text uses. */
export function withTable(text: string, lines: string): string {
  const eol = eolOf(text);
  const isBlank = text.replace(byteOrderMark, "").trim() === "";
  const gap = isBlank || text.endsWith(eol + eol) ? "" : text.endsWith(eol) ? eol : eol + eol;
  return `${text}${gap}${lines.replaceAll(/\r\n|\n/g, eol)}`;
}

/** Writes a table with its header, such as `[[rule]]`. Leaves out members that are undefined. */
export function tomlTable(header: string, members: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(members).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key} = ${toToml(value)}`],
  );
  return [header, ...lines, ""].join("\n");
}

function toToml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toToml).join(", ")}]`;
  if (typeof value === "string") return quoted(value);
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, inner]) => `${toKey(key)} = ${toToml(inner)}`);
  return `{ ${members.join(", ")} }`;
}

function toKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : quoted(key);
}

const unseen = "\\p{C}|(?! )\\p{Z}";

/** Writes a text. Writes invisible characters as escapes, so that people who read the file see them. */
function quoted(text: string): string {
  if (/["\\]/.test(text) && !new RegExp(`'|${unseen}`, "u").test(text)) return `'${text}'`;
  return `"${text.replaceAll(/["\\]/g, "\\$&").replaceAll(new RegExp(unseen, "gu"), escaped)}"`;
}

function escaped(character: string): string {
  return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`;
}
