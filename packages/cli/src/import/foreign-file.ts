/** Reads the servers in a file of another program: their names and entries as written, not validated yet. */

import { parseJsonc, readText } from "@fairlead/core/files";
import { limits } from "@fairlead/core/limits";
import { plainValueOf } from "@fairlead/core/settings";
import { isObject } from "@fairlead/wire/json";
import { type ClientSyntax, clients } from "../clients/client.ts";
import { parseYaml, YamlMistake } from "../clients/yaml-text.ts";
import { toCommonForm } from "./common-form.ts";
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

/** A parsed file, or why there is none. */
type Document =
  | { readonly kind: "value"; readonly value: unknown }
  | Extract<ForeignFile, { kind: "absent" | "broken" }>;

/** Reads and parses a file. Does not throw if the file is absent or broken. */
async function readDocument(file: string, syntax: ClientSyntax): Promise<Document> {
  const read = await readText(file, limits.clientFileBytes);
  if (read.kind === "absent") return read;
  if (read.kind === "unreadable") return { kind: "broken", message: read.reason };
  switch (syntax) {
    case "toml":
      return parseToml(read.text);
    case "yaml":
      return readYaml(read.text);
    // Reads comments also in files of programs that reject them: nothing is written to the file.
    case "json":
    case "jsonc":
      return parseJson(read.text);
  }
}

/**
 * Reads the servers in a file of another program. Of the servers that belong to a project, reads those of the projects
 * in `folders`.
 */
export async function readForeignFile(source: ImportSource, folders: readonly string[]): Promise<ForeignFile> {
  const document = await readDocument(source.file, clients[source.program].syntax);
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
  const own = [...servers]
    .filter(([, entry]) => !isBuiltIn(program, entry))
    .map(([name, entry]) => ({ name, value: toCommonForm(program, entry), disabled: false }));
  const ofProjects = program === "claude-code" ? folders.flatMap((folder) => projectServers(fields, folder)) : [];
  return { kind: "read", servers: [...own, ...ofProjects], inputs: inputsOf(body.get("inputs")) };
}

/** Whether an entry stands for a part of goose itself, which other programs cannot start. */
function isBuiltIn(program: Program, entry: unknown): boolean {
  const type = foreignFields(entry)?.get("type");
  return program === "goose" && (type === "builtin" || type === "platform");
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

async function readYaml(text: string): Promise<Document> {
  try {
    return { kind: "value", value: (await parseYaml(text)).value };
  } catch (error) {
    if (!(error instanceof YamlMistake)) throw error;
    return { kind: "broken", message: error.message, line: error.line, column: error.column };
  }
}

/** Each pattern matches the end of a path. The second item is the program that writes files with such a path. */
const names: readonly (readonly [RegExp, Program])[] = [
  [/[/\\]claude_desktop_config\.json$/, "claude-desktop"],
  [/[/\\]\.(claude|mcp)\.json$/, "claude-code"],
  [/[/\\]\.cursor[/\\]mcp\.json$/, "cursor"],
  [/[/\\](\.vscode|User)[/\\](mcp|settings)\.json$/, "vscode"],
  [/[/\\](\.gemini[/\\](config|antigravity|antigravity-cli)|[._]agents?)[/\\]mcp_config\.json$/, "antigravity"],
  [/[/\\]mcp_config\.json$/, "windsurf"],
  [/[/\\](\.copilot[/\\]mcp-config|\.github[/\\]mcp)\.json$/, "copilot-cli"],
  [/[/\\]\.kiro[/\\]settings[/\\]mcp\.json$/, "kiro"],
  [/[/\\]globalStorage[/\\].*[/\\]cline_mcp_settings\.json$/, "cline"],
  [/[/\\]cline_mcp_settings\.json$/, "cline-cli"],
  [/[/\\]kilo\.jsonc?$/, "kilo"],
  [/[/\\]\.kimi-code[/\\]mcp\.json$/, "kimi"],
  [/[/\\]mcporter\.jsonc?$/, "mcporter"],
  [/[/\\]\.pi[/\\](agent[/\\])?mcp\.json$/, "pi"],
  [/\.ya?ml$/, "goose"],
  [/[/\\]zed[/\\]settings\.json$/i, "zed"],
  [/[/\\]opencode\.jsonc?$/, "opencode"],
  [/[/\\]\.grok[/\\]config\.toml$/, "grok"],
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
