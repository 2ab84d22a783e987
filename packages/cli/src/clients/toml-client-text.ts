/** A client's settings in TOML (Codex): servers are tables such as `[mcp_servers.NAME]`. */

import type { Position } from "@fairlead/core/files/json/jsonc";
import {
  keyWords,
  type TextRange,
  type TomlText,
  tomlParser,
  tomlTable,
  wholeLines,
  withoutLines,
  withTable,
} from "@fairlead/core/files/toml-edit";
import { limits } from "@fairlead/core/limits";
import { isObject, objectOf } from "@fairlead/wire/json";
import { errorMessage } from "@fairlead/wire/text";
import type { AST } from "toml-eslint-parser";
import { clients } from "./client.ts";
import type { EditableText, ServerInText, TextContext } from "./client-text.ts";

/** Parses a client's TOML settings. Throws the error from `context.refuse` if the text has a mistake. */
export async function openTomlText(text: string, context: TextContext): Promise<EditableText> {
  const { client, refuse } = context;
  const { key } = clients[client];
  const value = await readTable(text, context);
  const { bom, body, ...serverTables } = await findTables(text, key, context);
  const holder = Object.hasOwn(value, key) ? value[key] : {};
  if (!isObject(holder) || holder instanceof Date) throw refuse(`"${key}" must be a table`, serverTables.first);
  const servers = new Map<string, ServerInText>(
    Object.entries(holder).map(([name, entry]) => [
      name,
      { value: entry, ...(serverTables.of.get(name) ?? serverTables.first) },
    ]),
  );

  function tablesOf(name: string): readonly TextRange[] {
    const position = serverTables.of.get(name) ?? serverTables.first;
    const spans = serverTables.tables.get(name);
    if (spans === undefined || serverTables.isMixed.has(name))
      throw refuse(`the server "${name}" is not written as a separate table, [${key}.${name}]`, position);
    return spans;
  }

  function remove(name: string): string {
    return servers.has(name) ? bom + tablesOf(name).reduceRight(withoutLines, body) : text;
  }

  return {
    value,
    servers,
    set(name, entry) {
      const rest = servers.has(name) ? remove(name) : text;
      return withTable(rest, tomlTable(`[${key}.${name}]`, entry));
    },
    remove,
    // The header `[mcp_servers]` may stay in the file, because it has no effect without tables below it.
    removeEmpty: () => text,
    copy: (from, name) => withTable(text, from.sourceOf(name) ?? ""),
    sourceOf: (name) =>
      `${tablesOf(name)
        .map((range) => body.slice(...wholeLines(body, range)).trimEnd())
        .join("\n\n")}\n`,
  };
}

async function readTable(text: string, { refuse }: TextContext): Promise<Readonly<Record<string, unknown>>> {
  const { parse, TomlError } = await import("smol-toml");
  try {
    return objectOf(plainTable(parse(text.replace(/^\uFEFF/, ""), { maxDepth: limits.settingsDepth })));
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

async function findTables(text: string, key: string, { refuse }: TextContext) {
  const parse = await tomlParser();
  let parsed: TomlText;
  try {
    parsed = parse(text);
  } catch (error) {
    const line = error instanceof Error && "lineNumber" in error ? Number(error.lineNumber) : 1;
    throw refuse(errorMessage(error), { line, column: 1 }, error);
  }
  const { bom, body, nodes } = parsed;
  let first: Position | undefined;
  const of = new Map<string, Position>();
  const tables = new Map<string, TextRange[]>();
  const isMixed = new Set<string>();
  const note = (name: string | undefined, { start }: AST.TOMLNode["loc"]): void => {
    const position = { line: start.line, column: start.column + 1 };
    first ??= position;
    if (name !== undefined && !of.has(name)) of.set(name, position);
  };
  for (const node of nodes) {
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
    if (name !== undefined) tables.set(name, [...(tables.get(name) ?? []), node.range]);
    else
      for (const inner of node.body) {
        const [word] = keyWords(inner.key);
        note(word, inner.loc);
        if (word !== undefined) isMixed.add(word);
      }
  }
  return { bom, body, first: first ?? { line: 1, column: 1 }, of, tables, isMixed };
}
