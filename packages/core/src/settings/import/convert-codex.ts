/** Codex's own keys: variables are named instead of referred to, and times are in seconds. */

import { convertTimeout, type EntryDraft, type TransportKind } from "./draft.ts";
import type { FieldReader } from "./field-reader.ts";
import { foreignFields } from "./foreign-file.ts";
import { isVariableName } from "./references.ts";

export function convertCodexKeys(reader: FieldReader, draft: EntryDraft, kind: TransportKind | undefined): void {
  // A display name of old, without effect in Codex too.
  reader.raw("name");
  if (kind === "stdio") forwardVariables(reader, draft);
  if (kind === "http") convertHeaders(reader, draft);
  convertTimeout(reader, draft, "tool_timeout_sec", "seconds");
  const included = reader.names("enabled_tools");
  if (included) draft.set("includeTools", included);
  const excluded = reader.names("disabled_tools");
  if (excluded) draft.set("excludeTools", excluded);
}

/** `env_vars`: names whose values the server gets from Codex's own environment. */
function forwardVariables(reader: FieldReader, draft: EntryDraft): void {
  const listed = reader.raw("env_vars");
  if (listed === undefined) return;
  const list: readonly unknown[] = Array.isArray(listed) ? listed : [];
  if (!Array.isArray(listed)) reader.refuse("env_vars", "is not a list");
  const env = tableIn(draft, "env");
  for (const [at, one] of list.entries()) {
    const key = `env_vars[${at}]`;
    const fields = foreignFields(one);
    const isLocal = (fields?.get("source") ?? "local") === "local";
    const name = isLocal ? variableIn(reader, key, fields ? fields.get("name") : one) : undefined;
    if (!isLocal) reader.remark("dropped", key, "comes from a remote environment, which has no counterpart here");
    if (name !== undefined) env.set(name, `\${${name}}`);
  }
  if (env.size > 0) draft.set("env", env);
}

function convertHeaders(reader: FieldReader, draft: EntryDraft): void {
  const headers = tableIn(draft, "headers");
  for (const [header, value] of reader.table("http_headers") ?? []) headers.set(header, value);
  for (const [header, value] of foreignFields(reader.raw("env_http_headers")) ?? []) {
    const name = variableIn(reader, `env_http_headers.${header}`, value);
    if (name !== undefined) headers.set(header, `\${${name}}`);
  }
  const bearer = reader.has("bearer_token_env_var")
    ? variableIn(reader, "bearer_token_env_var", reader.raw("bearer_token_env_var"))
    : undefined;
  if (bearer !== undefined) headers.set("Authorization", `Bearer \${${bearer}}`);
  if (headers.size > 0) draft.set("headers", headers);
}

function variableIn(reader: FieldReader, key: string, value: unknown): string | undefined {
  if (typeof value !== "string" || !isVariableName(value))
    return reader.refuse(key, "names no variable that the settings can expand");
  reader.remark("converted", key, `the variable ${value} is referred to as \${${value}}`);
  return value;
}

function tableIn(draft: EntryDraft, key: "env" | "headers"): Map<string, string> {
  const table = draft.get(key);
  return table instanceof Map ? new Map<string, string>(table) : new Map();
}
