/** Reads and edits the servers in a client's settings file. All bytes outside these servers stay the same. */

import { isDeepStrictEqual } from "node:util";
import { HostError } from "@fairlead/core/errors";
import {
  type JsoncDocument,
  keyWords,
  type Position,
  parseJsonc,
  removeValue,
  setValue,
  type TextRange,
  type TomlText,
  tomlParser,
  tomlTable,
  wholeLines,
  withoutLines,
  withTable,
} from "@fairlead/core/files";
import { limits } from "@fairlead/core/limits";
import { plainValueOf, propertyNodes } from "@fairlead/core/settings";
import { isObject, objectOf } from "@fairlead/wire/json";
import { errorMessage } from "@fairlead/wire/text";
import type { AST } from "toml-eslint-parser";
import { type ClientName, clients, type ForeignEntry } from "./client.ts";
import type { EditableText, ServerInText, TextContext } from "./editable-text.ts";
import { openYamlText } from "./yaml-text.ts";

/**
 * Parses the text of a client's file.
 *
 * @throws HostError `settings_invalid` with file, line and column
 */
export async function openClientText(
  client: ClientName,
  file: string,
  text: string | undefined,
): Promise<EditableText> {
  const refuse: TextContext["refuse"] = (message, { line, column }, cause) =>
    new HostError("settings_invalid", `${file}:${line}:${column}: ${message}; the file was not changed`, {
      next: `Correct ${file} at line ${line}, column ${column}, then try again.`,
      cause,
    });
  const context = { client, refuse };
  switch (clients[client].syntax) {
    case "toml":
      return openTomlText(text ?? "", context);
    case "yaml":
      return openYamlText(text ?? "", context);
    case "json":
    case "jsonc":
      return openJsonText(text ?? "", context);
  }
}

/** A change of a client's file: first removes servers, then adds or replaces one server. */
interface TextChange {
  readonly remove: readonly string[];
  readonly set?: { readonly name: string; readonly entry: ForeignEntry };
}

/**
 * Changes the servers in a text. Checks that no other setting has changed.
 *
 * @throws HostError `settings_invalid` if the text has a syntax error, or uses syntax that Fairlead cannot edit
 */
export async function changeServers(
  client: ClientName,
  file: string,
  text: string | undefined,
  { remove, set }: TextChange,
): Promise<string> {
  const first = await openClientText(client, file, text);
  let opened = first;
  let result = text ?? "";
  const reopen = async (changed: string): Promise<void> => {
    result = changed;
    opened = await openClientText(client, file, result);
  };
  for (const name of remove) await reopen(opened.remove(name));
  if (set !== undefined) await reopen(opened.set(set.name, set.entry));
  const { key } = clients[client];
  const servers = new Map(Object.entries(objectOf(first.value[key])));
  for (const name of remove) servers.delete(name);
  if (set !== undefined) servers.set(set.name, set.entry);
  const expected = { ...first.value, [key]: Object.fromEntries(servers) };
  const actual = { ...opened.value, [key]: opened.value[key] ?? {} };
  if (!isDeepStrictEqual(actual, expected))
    throw new HostError("settings_invalid", `${file} uses syntax that Fairlead cannot edit; the file was not changed`, {
      next: `Copy the entry into the file by hand. To print the entry: fairlead connect ${client} --print`,
    });
  return result;
}

/** Removes Fairlead's entry and restores the servers that `connect --replace` had removed. */
export async function removeOwnEntry(
  client: ClientName,
  file: string,
  text: string,
  {
    before,
    name,
    moved,
  }: { readonly before: string | undefined; readonly name: string; readonly moved: readonly string[] },
): Promise<string> {
  const old = await openClientText(client, file, before);
  let result = await changeServers(client, file, text, { remove: [name] });
  for (const server of moved) {
    const opened = await openClientText(client, file, result);
    // If the user has added a server with this name after `connect`, that server stays.
    if (old.servers.has(server) && !opened.servers.has(server)) result = opened.copy(old, server);
  }
  if (isObject(old.value[clients[client].key])) return result;
  return (await openClientText(client, file, result)).removeEmpty();
}

// A client's settings in JSON, with or without comments.

/** Parses a client's JSON settings. Throws the error from `context.refuse` if the text has a mistake. */
function openJsonText(text: string, context: TextContext): EditableText {
  const { client, refuse } = context;
  const { key, syntax, title } = clients[client];
  const document = parseJsonc(text);
  const { root, errors } = document;
  const [error] = errors;
  if (error !== undefined) throw refuse(error.message, error);
  if (root !== undefined && root.type !== "object")
    throw refuse("the file must contain a JSON object, { … }", document.positionAt(root.offset));
  if (syntax === "json" && root !== undefined) {
    const at = strictErrorAt(text);
    if (at !== undefined)
      throw refuse(`${title} does not accept comments or trailing commas in this file`, document.positionAt(at));
  }
  const servers = serversIn(document, key, context);
  return {
    value: objectOf(root && plainValueOf(root)),
    servers,
    set: (name, entry) => setValue(text, [key, name], entry),
    remove: (name) => (servers.has(name) ? removeValue(text, [key, name]) : text),
    removeEmpty: () => (servers.size === 0 && root !== undefined ? removeValue(text, [key]) : text),
    // The copied entry is an object, because `connect --replace` removes only entries that are objects.
    copy: (from, name) => setValue(text, [key, name], objectOf(from.servers.get(name)?.value) satisfies ForeignEntry),
    sourceOf: () => undefined,
  };
}

/**
 * Reads the servers. Refuses a second `key` and a repeated server name: programs disagree on which of the two counts,
 * so an edit might have no effect.
 */
function serversIn(document: JsoncDocument, key: string, { refuse }: TextContext): ReadonlyMap<string, ServerInText> {
  const holders = propertyNodes(document.root).filter(({ name }) => name === key);
  const [holder, second] = holders;
  if (second !== undefined) throw refuse(`"${key}" occurs twice`, document.positionAt(second.key.offset));
  if (holder === undefined) return new Map();
  if (holder.value.type !== "object")
    throw refuse(`"${key}" must be an object`, document.positionAt(holder.value.offset));
  const servers = new Map<string, ServerInText>();
  for (const property of propertyNodes(holder.value)) {
    const position = document.positionAt(property.key.offset);
    if (servers.has(property.name)) throw refuse(`the server "${property.name}" occurs twice`, position);
    servers.set(property.name, { value: plainValueOf(property.value), ...position });
  }
  return servers;
}

/** The position of the first violation of strict JSON. Undefined if there is none. */
function strictErrorAt(text: string): number | undefined {
  const start = text.startsWith("\uFEFF") ? 1 : 0;
  try {
    JSON.parse(text.slice(start));
    return undefined;
  } catch (error) {
    const [, offset = "0"] = /position (\d+)/.exec(error instanceof Error ? error.message : "") ?? [];
    return start + Number(offset);
  }
}

// A client's settings in TOML (Codex, Grok Build): servers are tables such as `[mcp_servers.NAME]`.

/** Parses a client's TOML settings. Throws the error from `context.refuse` if the text has a mistake. */
async function openTomlText(text: string, context: TextContext): Promise<EditableText> {
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
