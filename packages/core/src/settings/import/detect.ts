/** Finds out which program wrote a file, from its name, else from its content. */

import { foreignFields, readDocument } from "./foreign-file.ts";
import type { Program } from "./program.ts";

const names: readonly (readonly [RegExp, Program])[] = [
  [/[/\\]claude_desktop_config\.json$/, "claude-desktop"],
  [/[/\\]\.(claude|mcp)\.json$/, "claude-code"],
  [/[/\\]\.cursor[/\\]mcp\.json$/, "cursor"],
  [/[/\\](\.vscode|User)[/\\](mcp|settings)\.json$/, "vscode"],
  [/[/\\]mcp_config\.json$/, "windsurf"],
  [/\.toml$/, "codex"],
];

export async function detectProgram(file: string): Promise<Program | undefined> {
  const named = names.find(([pattern]) => pattern.test(file));
  if (named) return named[1];
  const document = await readDocument(file, "jsonc");
  return document.kind === "value" ? detectByContent(document.value) : undefined;
}

function detectByContent(value: unknown): Program | undefined {
  const fields = foreignFields(value);
  if (fields?.has("servers") || foreignFields(fields?.get("mcp"))?.has("servers")) return "vscode";
  if (!fields?.has("mcpServers")) return undefined;
  const text = JSON.stringify(fields.get("mcpServers"));
  if (text.includes('"serverUrl"') || text.includes("${file:")) return "windsurf";
  // All other programs read a file without such references in the same way.
  return /\$\{(env:|userHome|workspaceFolder)/.test(text) ? "cursor" : "claude-code";
}
