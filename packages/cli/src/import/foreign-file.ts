/** Reads the servers in a file of another program: their names and entries as written, not validated yet. */

import { parseJsonc, readText } from "@fairlead/core/files";
import { limits } from "@fairlead/core/limits";
import { plainValueOf } from "@fairlead/core/settings";
import { isObject } from "@fairlead/wire/json";
import { clients } from "../clients/client.ts";
import type { ImportSource, Program } from "./program.ts";

/** A server in another program's file. `value` is the entry in the common form. */
export interface ForeignServer {
  readonly name: string;
  readonly value: unknown;
  /** True if the file disables the server outside its entry, as `disabledMcpServers` of Claude Code does. */
  readonly disabled: boolean;
  /**
   * The project folder under which the file lists the server, as `~/.claude.json` of Claude Code does. Absent for other
   * servers.
   */
  readonly folder?: string;
}

/** The servers in a file. `inputs` are the descriptions of VS Code's inputs, by ID. */
export type ForeignFile =
  | { readonly kind: "read"; readonly servers: readonly ForeignServer[]; readonly inputs: ReadonlyMap<string, string> }
  | { readonly kind: "absent" }
  /** The file cannot be used. `line` and `column` are the position of a syntax error. */
  | { readonly kind: "broken"; readonly message: string; readonly line?: number; readonly column?: number };

/** A parsed JSON or TOML file, or why there is none. */
type Document =
  | { readonly kind: "value"; readonly value: unknown }
  | Extract<ForeignFile, { kind: "absent" | "broken" }>;

/** Reads and parses a file. Does not throw if the file is absent or broken. */
async function readDocument(file: string, syntax: "jsonc" | "toml"): Promise<Document> {
  const read = await readText(file, limits.clientFileBytes);
  if (read.kind === "absent") return read;
  if (read.kind === "unreadable") return { kind: "broken", message: read.reason };
  return syntax === "toml" ? parseToml(read.text) : parseJson(read.text);
}

/**
 * Reads the servers in a file of another program. Of the servers that belong to a project, reads those of the projects
 * in `folders`.
 */
export async function readForeignFile(source: ImportSource, folders: readonly string[]): Promise<ForeignFile> {
  const document = await readDocument(source.file, source.program === "codex" ? "toml" : "jsonc");
  return document.kind === "value" ? serversOf(source.program, document.value, folders) : document;
}

/** The properties of an object, including any property named `__proto__`. Undefined if the value is not an object. */
export function foreignFields(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (!isObject(value) || value instanceof Date) return undefined;
  return new Map<string, unknown>(Object.entries(value));
}

function serversOf(program: Program, value: unknown, folders: readonly string[]): ForeignFile {
  const fields = foreignFields(value);
  if (!fields) return { kind: "broken", message: "the file does not contain an object" };
  const body = program === "vscode" && !fields.has("servers") ? (foreignFields(fields.get("mcp")) ?? fields) : fields;
  const { key } = clients[program];
  const listed = body.get(key);
  const servers = listed === undefined ? new Map<string, unknown>() : foreignFields(listed);
  if (!servers) return { kind: "broken", message: `"${key}" is not an object` };
  const own = [...servers].map(([name, entry]) => ({
    name,
    value: toCommonForm(program, entry),
    disabled: false,
  }));
  const ofProjects = program === "claude-code" ? folders.flatMap((folder) => projectServers(fields, folder)) : [];
  return { kind: "read", servers: [...own, ...ofProjects], inputs: inputsOf(body.get("inputs")) };
}

/**
 * Reads the servers of one project from Claude Code's `~/.claude.json`. In this file, the project's path is the key.
 */
function projectServers(fields: ReadonlyMap<string, unknown>, folder: string): readonly ForeignServer[] {
  const projects = foreignFields(fields.get("projects"));
  const project = foreignFields(projects?.get(folder) ?? projects?.get(folder.replaceAll("\\", "/")));
  const disabled = project?.get("disabledMcpServers");
  const names = new Set<unknown>(Array.isArray(disabled) ? disabled : []);
  const servers = foreignFields(project?.get("mcpServers")) ?? new Map<string, unknown>();
  return [...servers].map(([name, value]) => ({ name, value, disabled: names.has(name), folder }));
}

function inputsOf(value: unknown): ReadonlyMap<string, string> {
  const inputs = new Map<string, string>();
  for (const input of Array.isArray(value) ? value : []) {
    const fields = foreignFields(input);
    const id = fields?.get("id");
    const description = fields?.get("description");
    if (typeof id === "string") inputs.set(id, typeof description === "string" ? description : "");
  }
  return inputs;
}

function parseJson(text: string): Document {
  const { root, errors } = parseJsonc(text);
  const [first] = errors;
  if (first) return { kind: "broken", ...first };
  return { kind: "value", value: root === undefined ? {} : plainValueOf(root) };
}

async function parseToml(text: string): Promise<Document> {
  const { parse, TomlError } = await import("smol-toml");
  try {
    return { kind: "value", value: parse(text, { maxDepth: limits.settingsDepth }) };
  } catch (error) {
    // Uses only the first line of the parser's message, because the other lines quote the file.
    const [message = ""] = error instanceof Error ? error.message.split("\n") : ["the file is not valid TOML"];
    const { line, column } = error instanceof TomlError ? error : {};
    return { kind: "broken", message, line, column };
  }
}

/** Each pattern matches the end of a path. The second item is the program that writes files with such a path. */
const names: readonly (readonly [RegExp, Program])[] = [
  [/[/\\]claude_desktop_config\.json$/, "claude-desktop"],
  [/[/\\]\.(claude|mcp)\.json$/, "claude-code"],
  [/[/\\]\.cursor[/\\]mcp\.json$/, "cursor"],
  [/[/\\](\.vscode|User)[/\\](mcp|settings)\.json$/, "vscode"],
  [/[/\\]mcp_config\.json$/, "windsurf"],
  [/[/\\]zed[/\\]settings\.json$/i, "zed"],
  [/[/\\]opencode\.jsonc?$/, "opencode"],
  [/\.toml$/, "codex"],
];

/**
 * Finds out which program wrote a file. Looks at the file's name. If no program uses this name, looks at the content.
 */
export async function detectProgram(file: string): Promise<Program | undefined> {
  const named = names.find(([pattern]) => pattern.test(file));
  if (named) return named[1];
  const document = await readDocument(file, "jsonc");
  return document.kind === "value" ? detectByContent(document.value) : undefined;
}

function detectByContent(value: unknown): Program | undefined {
  const fields = foreignFields(value);
  if (fields?.has("servers") || foreignFields(fields?.get("mcp"))?.has("servers")) return "vscode";
  if (fields?.has("context_servers")) return "zed";
  if (!fields?.has("mcpServers")) return undefined;
  const text = JSON.stringify(fields.get("mcpServers"));
  if (text.includes('"serverUrl"') || text.includes("${file:")) return "windsurf";
  /*
   * If the file has no references such as `${env:NAME}`, it does not matter whether Cursor or Claude Code wrote it,
   * because both read it in the same way.
   */
  return /\$\{(env:|userHome|workspaceFolder)/.test(text) ? "cursor" : "claude-code";
}

// Converts the entries of Zed and opencode to the form that Claude Desktop, Cursor and the other programs use.

/** Returns the entry with the keys that most programs use. Does not check values. */
function toCommonForm(program: Program, entry: unknown): unknown {
  if (!isObject(entry)) return entry;
  if (program === "zed") return fromZed(entry);
  return program === "opencode" ? fromOpencode(entry) : entry;
}

/** Converts an entry of Zed, also in the older form `command: { path, args, env }`. */
function fromZed({ source: _source, command, ...rest }: Readonly<Record<string, unknown>>): unknown {
  if (!isObject(command)) return command === undefined ? rest : { command, ...rest };
  const { path, ...others } = command;
  return { command: path, ...others, ...rest };
}

/**
 * Converts an entry of opencode: `command` is a list, `environment` holds the variables, and references are
 * `{env:NAME}` and `{file:PATH}`.
 */
function fromOpencode({ type, command, environment, ...rest }: Readonly<Record<string, unknown>>): unknown {
  const isKnownType = type === "local" || type === "remote" || type === undefined;
  const [program, ...args] = Array.isArray(command) ? (command as readonly unknown[]) : [command];
  const local = command === undefined ? {} : { command: program, ...(args.length > 0 && { args }) };
  const env = environment === undefined ? {} : { env: environment };
  return withReferences({ ...(isKnownType ? {} : { type }), ...local, ...env, ...rest });
}

function withReferences(value: unknown): unknown {
  if (typeof value === "string")
    return value.replaceAll(/\{(env|file):([^{}]*)\}/g, (_all, kind: string, body: string) => `\${${kind}:${body}}`);
  if (Array.isArray(value)) return value.map(withReferences);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withReferences(inner)]));
}
