/**
 * Edits a client's settings in YAML (goose): servers are the members of a block mapping. An edit inserts or removes whole
 * lines and never writes the document anew, so all other bytes stay the same.
 */

import type { Position } from "@fairlead/core/files";
import { limits } from "@fairlead/core/limits";
import { isObject, objectOf } from "@fairlead/wire/json";
import { errorMessage } from "@fairlead/wire/text";
import type { Pair, ParsedNode, YAMLMap } from "yaml";
import { clients, type ForeignEntry } from "./client.ts";
import type { EditableText, ServerInText, TextContext } from "./editable-text.ts";

/** A mapping as parsed. Its keys may be any node, also another mapping. */
type Mapping = YAMLMap.Parsed;
type Member = Pair<ParsedNode, ParsedNode | null>;

const byteOrderMark = "\uFEFF";
/** goose's settings have a few kilobytes, and the parser needs a second for each megabyte. */
const maxCharacters = 1_048_576;
/** An alias can repeat what another alias repeats, so a short text could stand for an endless value. */
const maxAliases = 100;

/** A mistake in a YAML text. Line and column count from 1. */
export class YamlMistake extends Error implements Position {
  readonly line: number;
  readonly column: number;

  constructor(message: string, { line, column }: Position, cause?: unknown) {
    super(message, { cause });
    this.line = line;
    this.column = column;
  }
}

const firstPosition: Position = { line: 1, column: 1 };

/**
 * Parses a text that must contain one mapping, or nothing.
 *
 * @throws YamlMistake
 */
export async function parseYaml(
  text: string,
): Promise<Pick<ParsedYaml, "bom" | "body" | "root" | "value" | "positionAt">> {
  const { isMap, isScalar, LineCounter, parseDocument, visit } = await import("yaml");
  const bom = text.startsWith(byteOrderMark) ? byteOrderMark : "";
  const body = text.slice(bom.length);
  if (body.length > maxCharacters)
    throw new YamlMistake(`the file has more than ${maxCharacters} characters`, firstPosition);
  const lines = new LineCounter();
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  let root: ParsedNode | null;
  let value: unknown;
  try {
    // The parser's own check for repeated keys compares each key with all others, which takes minutes in a large file.
    const document = parseDocument(body, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
    const [error] = document.errors;
    if (error !== undefined) throw new YamlMistake(error.message, positionAt(error.pos[0]), error);
    visit(document, {
      Map(_key, map) {
        const names = new Set<string>();
        for (const { key } of map.items) {
          if (!isScalar<unknown>(key)) continue;
          const name = String(key.value);
          if (names.has(name)) throw new YamlMistake(`the key "${name}" occurs twice`, positionAt(key.range?.[0] ?? 0));
          names.add(name);
        }
      },
    });
    // After a line `---`, an empty document is an empty text instead of nothing.
    root = document.contents?.range[0] === document.contents?.range[1] ? null : document.contents;
    value = document.toJS({ maxAliasCount: maxAliases });
  } catch (error) {
    // A deeply nested text exhausts the stack of the parser. Aliases without an anchor are reference errors.
    if (error instanceof RangeError) throw new YamlMistake("the file is nested too deeply", firstPosition, error);
    throw error instanceof ReferenceError ? new YamlMistake(errorMessage(error), firstPosition, error) : error;
  }
  if (isDeeper(value, limits.settingsDepth)) throw new YamlMistake("the file is nested too deeply", firstPosition);
  if (root !== null && !isMap(root))
    throw new YamlMistake("the file must contain a mapping, key: value", positionAt(root.range[0]));
  return { bom, body, root: root ?? undefined, value: objectOf(value), positionAt };
}

/** Opens a client's YAML settings. Throws the error from `context.refuse` if the text has a mistake. */
export async function openYamlText(text: string, { client, refuse }: TextContext): Promise<EditableText> {
  const { isMap } = await import("yaml");
  const parsed = await parseYaml(text).catch((error: unknown) => {
    throw error instanceof YamlMistake ? refuse(error.message, error, error) : error;
  });
  const { key } = clients[client];
  const { root, positionAt } = parsed;
  const refuseAt = (message: string, offset: number): Error => refuse(message, positionAt(offset));
  const holder = root && memberOf(root, key);
  const servers = holder?.value;
  if (holder !== undefined && !isMap(servers)) throw refuseAt(`"${key}" must be a mapping`, startOf(holder));
  return new YamlText({ ...parsed, key, holder, mapping: isMap(servers) ? servers : undefined, refuseAt });
}

interface ParsedYaml {
  readonly bom: string;
  /** The text without the byte order mark. All offsets are offsets in it. */
  readonly body: string;
  /** The key of the mapping that holds the servers. */
  readonly key: string;
  /** The outermost mapping. Undefined if the text has only blanks and comments. */
  readonly root: Mapping | undefined;
  /** The member of the outermost mapping whose value is the mapping of the servers, and that mapping. */
  readonly holder: Member | undefined;
  readonly mapping: Mapping | undefined;
  readonly value: Readonly<Record<string, unknown>>;
  readonly positionAt: (offset: number) => Position;
  readonly refuseAt: (message: string, offset: number) => Error;
}

class YamlText implements EditableText {
  readonly value: EditableText["value"];
  readonly servers: ReadonlyMap<string, ServerInText>;
  readonly #parsed: ParsedYaml;
  readonly #members: ReadonlyMap<string, Member>;

  constructor(parsed: ParsedYaml) {
    const { key, value, positionAt } = parsed;
    this.#parsed = parsed;
    this.#members = new Map(parsed.mapping?.items.map((member) => [nameOf(member), member]));
    this.value = value;
    this.servers = new Map(
      Object.entries(objectOf(value[key])).map(([name, entry]) => {
        const member = this.#member(name);
        return [name, { value: entry, ...positionAt(member === undefined ? 0 : startOf(member)) }];
      }),
    );
  }

  set(name: string, entry: ForeignEntry): string {
    const member = this.#member(name);
    if (member === undefined) return this.#add(yamlMember(name, entry));
    const [start, end] = this.#linesOf(member, this.#parsed.mapping);
    return this.#spliced(start, end, yamlMember(name, entry), this.#indentOf(member));
  }

  remove(name: string): string {
    const member = this.#member(name);
    if (member === undefined || this.#parsed.holder === undefined) return this.#parsed.bom + this.#parsed.body;
    const rest = this.#spliced(...this.#linesOf(member, this.#parsed.mapping), "");
    if (this.servers.size > 1) return rest;
    // A mapping without members would be null, so it is written as an empty one.
    const { bom, body } = this.#parsed;
    const afterColon = bom.length + body.indexOf(":", endOf(this.#parsed.holder.key)) + 1;
    return `${rest.slice(0, afterColon)} {}${rest.slice(afterColon)}`;
  }

  removeEmpty(): string {
    const { bom, body, root } = this.#parsed;
    if (this.servers.size > 0 || this.#parsed.holder === undefined) return bom + body;
    return this.#spliced(...this.#linesOf(this.#parsed.holder, root), "");
  }

  copy(from: EditableText, name: string): string {
    return this.#add(from.sourceOf(name) ?? "");
  }

  sourceOf(name: string): string | undefined {
    const member = this.#member(name);
    if (member === undefined) return undefined;
    const lines = this.#parsed.body
      .slice(...this.#linesOf(member, this.#parsed.mapping))
      .trimEnd()
      .split(/\r?\n/);
    const { length } = this.#indentOf(member);
    return lines.map((line) => `${line.slice(Math.min(length, line.search(/[^ ]|$/)))}\n`).join("");
  }

  #member(name: string): Member | undefined {
    return this.#members.get(name);
  }

  /** Adds the lines of a server after the last server. */
  #add(lines: string): string {
    const { body, key, root, refuseAt } = this.#parsed;
    const last = this.#parsed.mapping && lastMember(this.#parsed.mapping);
    if (last !== undefined) {
      const [, end] = this.#linesOf(last, this.#parsed.mapping);
      return this.#spliced(end, end, lines, this.#indentOf(last));
    }
    if (this.#parsed.holder !== undefined && this.#parsed.mapping !== undefined) {
      // The lines replace `{}` and stand after the comment that may follow it on the same line.
      const [start, end] = this.#parsed.mapping.range;
      const [, lineEnd] = this.#linesOf(this.#parsed.holder, root);
      if (!/^\{\s*\}$/.test(body.slice(start, end)) || isMarked(this.#parsed.mapping))
        throw refuseAt(`Fairlead cannot add a server to this mapping`, start);
      const head = body.slice(0, start).trimEnd() + body.slice(end, lineEnd);
      return this.#spliced(0, lineEnd, indented(lines, `${this.#indentOf(this.#parsed.holder)}  `), "", head);
    }
    const neighbour = root && lastMember(root);
    const member = `${key}:\n${indented(lines, "  ")}`;
    if (neighbour !== undefined) {
      const [, end] = this.#linesOf(neighbour, root);
      return this.#spliced(end, end, member, this.#indentOf(neighbour));
    }
    if (root !== undefined) throw refuseAt("Fairlead cannot add a server to this mapping", root.range[0]);
    return this.#spliced(body.length, body.length, member);
  }

  /**
   * The range of a member's lines, from its key to the last line of its value. Comments after the value are not part of
   * it. Refuses a member that shares a line with another one.
   */
  #linesOf(member: Member, parent: Mapping | undefined): readonly [start: number, end: number] {
    const { body, refuseAt } = this.#parsed;
    const start = lineStart(body, startOf(member));
    if (parent?.flow || (parent && isMarked(parent)) || /[^ ]/.test(body.slice(start, startOf(member))))
      throw refuseAt(
        "Fairlead can edit this member only on lines of its own, without braces or anchors",
        startOf(member),
      );
    const end = endOf(member.value ?? member.key);
    // The range of a block text ends after its last line break, that of every other value before it.
    if (end > startOf(member) && body[end - 1] === "\n") return [start, end];
    const lineBreak = body.indexOf("\n", end);
    return [start, lineBreak === -1 ? body.length : lineBreak + 1];
  }

  #indentOf(member: Member): string {
    const start = startOf(member);
    return " ".repeat(start - lineStart(this.#parsed.body, start));
  }

  /** Returns the whole text with other lines in place of a range. `head`: the text before the range, if it changes too. */
  #spliced(start: number, end: number, lines: string, indent = "", head = this.#parsed.body.slice(0, start)): string {
    const { bom, body } = this.#parsed;
    const eol = /\r?\n/.exec(body)?.[0] ?? "\n";
    const gap = lines === "" || head === "" || head.endsWith("\n") ? "" : eol;
    return bom + head + gap + indented(lines, indent).replaceAll("\n", eol) + body.slice(end);
  }
}

function memberOf(mapping: Mapping, name: string): Member | undefined {
  return mapping.items.find((member) => nameOf(member) === name);
}

/** The key of a member as text. A key that is a list or a mapping has no text, so it gets one that no server has. */
function nameOf({ key }: Member): string {
  return "value" in key ? String(key.value) : "\0";
}

function lastMember(mapping: Mapping): Member | undefined {
  return mapping.items.at(-1);
}

/** Whether a mapping has an anchor or a tag, which would stand between its key and its first member. */
function isMarked({ anchor, tag }: Mapping): boolean {
  return anchor !== undefined || tag !== undefined;
}

function startOf({ key }: Member): number {
  return key.range[0];
}

function endOf({ range }: ParsedNode): number {
  return range[1];
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

function indented(lines: string, indent: string): string {
  return lines.replaceAll(/^(?=.)/gm, indent);
}

function isDeeper(value: unknown, depth: number): boolean {
  if (!isObject(value) && !Array.isArray(value)) return false;
  return depth === 0 || Object.values(value).some((inner) => isDeeper(inner, depth - 1));
}

/** The lines of a mapping's member. Lists and tables inside it are written on one line. */
function yamlMember(name: string, entry: ForeignEntry): string {
  const lines = Object.entries(entry).map(([key, value]) => `  ${key}: ${toYaml(value)}\n`);
  return `${name}:\n${lines.join("")}`;
}

/** Writes strings in double quotes, in which JSON and YAML have the same escapes. */
function toYaml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toYaml).join(", ")}]`;
  if (isObject(value))
    return `{ ${Object.entries(value)
      .map(([key, inner]) => `${toYaml(key)}: ${toYaml(inner)}`)
      .join(", ")} }`;
  // YAML has line breaks and unprintable characters that JSON does not escape.
  return JSON.stringify(value).replaceAll(
    /[\u007F-\u009F\u2028\u2029\uFEFF]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
