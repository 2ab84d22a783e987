/** A client's settings in TOML (Codex): servers are tables such as `[mcp_servers.NAME]`. */

import { eolOf } from "@fairlead/core/files/json/text-layout";
import { limits } from "@fairlead/core/limits";
import { isObject, objectOf } from "@fairlead/wire/json";
import { errorMessage } from "@fairlead/wire/text";
import type { AST } from "toml-eslint-parser";
import { clients, type ForeignEntry } from "./client.ts";
import type { EditableText, ServerInText, TextContext } from "./client-text.ts";

const byteOrderMark = "\uFEFF";

/** The start and end of one table in the text, in whole lines. The table's header is included. */
type Span = readonly [start: number, end: number];

/** Parses a client's TOML settings. Throws the error from `context.refuse` if the text has a mistake. */
export async function openTomlText(text: string, context: TextContext): Promise<EditableText> {
  const { client, refuse } = context;
  const { key } = clients[client];
  const bom = text.startsWith(byteOrderMark) ? byteOrderMark : "";
  // Removes the byte order mark, because the parser rejects it.
  const body = text.slice(bom.length);
  const value = await readTable(body, context);
  const serverTables = await placesOf(body, key, context);
  const holder = Object.hasOwn(value, key) ? value[key] : {};
  if (!isObject(holder) || holder instanceof Date) throw refuse(`"${key}" must be a table`, serverTables.first);
  const servers = new Map<string, ServerInText>(
    Object.entries(holder).map(([name, entry]) => [
      name,
      { value: entry, ...(serverTables.of.get(name) ?? serverTables.first) },
    ]),
  );

  function tablesOf(name: string): readonly Span[] {
    const position = serverTables.of.get(name) ?? serverTables.first;
    const spans = serverTables.tables.get(name);
    if (spans === undefined || serverTables.isMixed.has(name))
      throw refuse(`the server "${name}" is not written as a separate table, [${key}.${name}]`, position);
    return spans;
  }

  function remove(name: string): string {
    return servers.has(name) ? bom + tablesOf(name).reduceRight(withoutLines, body) : text;
  }

  function append(to: string, lines: string): string {
    const eol = eolOf(to);
    return `${spaced(to, eol)}${lines.replaceAll(/\r\n|\n/g, eol)}`;
  }

  return {
    value,
    servers,
    set(name, entry) {
      const rest = servers.has(name) ? remove(name) : text;
      return append(rest, tableLines(`${key}.${name}`, entry));
    },
    remove,
    // The header `[mcp_servers]` may stay in the file, because it has no effect without tables below it.
    removeEmpty: () => text,
    copy: (from, name) => append(text, from.sourceOf(name) ?? ""),
    sourceOf: (name) =>
      `${tablesOf(name)
        .map(([start, end]) => body.slice(start, end).trimEnd())
        .join("\n\n")}\n`,
  };
}

async function readTable(body: string, { refuse }: TextContext): Promise<Readonly<Record<string, unknown>>> {
  const { parse, TomlError } = await import("smol-toml");
  try {
    return objectOf(plainTable(parse(body, { maxDepth: limits.settingsDepth })));
  } catch (error) {
    // Uses only the first line of the parser's message, because the other lines quote the file.
    const [message = ""] = errorMessage(error).split("\n");
    throw refuse(message, error instanceof TomlError ? error : { line: 1, column: 1 }, error);
  }
}

/** Converts parsed TOML tables to plain objects, so that they can be compared. */
function plainTable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainTable);
  if (value instanceof Date || typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plainTable(inner)]));
}

interface KeyPosition {
  readonly line: number;
  readonly column: number;
}

interface ServerTables {
  /** The position at which the file first mentions the servers. */
  readonly first: KeyPosition;
  readonly of: ReadonlyMap<string, KeyPosition>;
  readonly tables: ReadonlyMap<string, readonly Span[]>;
  /**
   * Names of servers that have values outside their table `[mcp_servers.NAME]`, such as `mcp_servers.NAME.url = "…"`.
   */
  readonly isMixed: ReadonlySet<string>;
}

async function placesOf(body: string, key: string, { refuse }: TextContext): Promise<ServerTables> {
  const { parseTOML } = await import("toml-eslint-parser");
  let top: AST.TOMLTopLevelTable;
  try {
    [top] = parseTOML(body).body;
  } catch (error) {
    const line = error instanceof Error && "lineNumber" in error ? Number(error.lineNumber) : 1;
    throw refuse(errorMessage(error), { line, column: 1 }, error);
  }
  let first: KeyPosition | undefined;
  const of = new Map<string, KeyPosition>();
  const tables = new Map<string, Span[]>();
  const isMixed = new Set<string>();
  const note = (name: string | undefined, { start }: AST.TOMLNode["loc"]): void => {
    const position = { line: start.line, column: start.column + 1 };
    first ??= position;
    if (name !== undefined && !of.has(name)) of.set(name, position);
  };
  for (const node of top.body) {
    if (node.type === "TOMLKeyValue") {
      const [holder, name] = keyWords(node.key);
      if (holder !== key) continue;
      note(name, node.loc);
      if (name !== undefined) isMixed.add(name);
      continue;
    }
    const [holder, name] = node.resolvedKey.map(String);
    if (holder !== key) continue;
    note(name, node.loc);
    if (name !== undefined) tables.set(name, [...(tables.get(name) ?? []), linesAround(body, node.range)]);
    else
      for (const inner of node.body) {
        const [word] = keyWords(inner.key);
        note(word, inner.loc);
        if (word !== undefined) isMixed.add(word);
      }
  }
  return { first: first ?? { line: 1, column: 1 }, of, tables, isMixed };
}

function keyWords({ keys }: AST.TOMLKey): readonly string[] {
  return keys.map((part) => (part.type === "TOMLBare" ? part.name : part.value));
}

function linesAround(body: string, [start, end]: Span): Span {
  const lineEnd = body.indexOf("\n", end);
  return [body.lastIndexOf("\n", start - 1) + 1, lineEnd === -1 ? body.length : lineEnd + 1];
}

/**
 * Removes whole lines, and one empty line before them. So `disconnect` also removes the empty line that `connect`
 * added.
 */
function withoutLines(text: string, [start, end]: Span): string {
  const eol = eolOf(text);
  const head = text.slice(0, start);
  const rest = text.slice(end);
  if (head === "") return rest.startsWith(eol) ? rest.slice(eol.length) : rest;
  return (head.endsWith(eol + eol) ? head.slice(0, -eol.length) : head) + rest;
}

/** Makes the text end with one empty line, unless the text is blank. */
function spaced(text: string, eol: string): string {
  if (text.replace(byteOrderMark, "").trim() === "" || text.endsWith(eol + eol)) return text;
  return text.endsWith(eol) ? text + eol : text + eol + eol;
}

function tableLines(name: string, entry: ForeignEntry): string {
  const lines = Object.entries(entry).map(([key, value]) => `${key} = ${tomlValue(value)}`);
  return [`[${name}]`, ...lines, ""].join("\n");
}

function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  if (typeof value === "string") return tomlString(value);
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, inner]) => `${tomlKey(key)} = ${tomlValue(inner)}`);
  return `{ ${members.join(", ")} }`;
}

function tomlKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : tomlString(key);
}

/** Writes a TOML string. A path with backslashes becomes a literal string. Any other text is written as in JSON. */
function tomlString(text: string): string {
  if (text.includes("\\") && !/['\p{C}]/u.test(text)) return `'${text}'`;
  return JSON.stringify(text).replaceAll("\u007F", "\\u007F");
}
