/** The keys of a server that is reached by its URL: address, headers, and a client registered by hand. */

import type { EntryDraft, TransportKind } from "./draft.ts";
import type { FieldReader } from "./field-reader.ts";
import { foreignFields } from "./foreign-file.ts";
import type { Program } from "./program.ts";

export function convertAddress(
  reader: FieldReader,
  draft: EntryDraft,
  kind: Exclude<TransportKind, "stdio">,
  program: Program,
): void {
  const url = reader.text(["serverUrl", "httpUrl"].find((key) => reader.has(key)) ?? "url");
  if (url !== undefined) draft.set("url", url);
  if (kind !== "url") draft.set("type", kind);
  const headers = reader.table("headers");
  if (headers && headers.size > 0) draft.set("headers", headers);
  convertClient(reader, draft, program);
}

const clientKeys: ReadonlyMap<string, "clientId" | "clientSecret" | "scopes"> = new Map([
  ["clientId", "clientId"],
  ["client_id", "clientId"],
  ["CLIENT_ID", "clientId"],
  ["clientSecret", "clientSecret"],
  ["CLIENT_SECRET", "clientSecret"],
  ["scopes", "scopes"],
]);

function convertClient(reader: FieldReader, draft: EntryDraft, program: Program): void {
  const key = program === "cursor" ? "auth" : "oauth";
  const oauth = new Map<string, unknown>();
  for (const [name, value] of foreignFields(reader.raw(key)) ?? []) {
    const where = `${key}.${name}`;
    const ours = clientKeys.get(name);
    const text = typeof value === "string" ? reader.convert(value, where) : undefined;
    const converted = ours === "scopes" ? scopesOf(value, where, reader) : text;
    if (ours === undefined || converted === undefined) reader.remark("dropped", where, "has no counterpart here");
    else oauth.set(ours, converted);
  }
  const scopes = program === "codex" ? scopesOf(reader.raw("scopes"), "scopes", reader) : undefined;
  if (scopes) oauth.set("scopes", scopes);
  if (oauth.size > 0) draft.set("oauth", oauth);
}

/** A list, or one text with spaces between. */
function scopesOf(value: unknown, key: string, reader: FieldReader): readonly string[] | undefined {
  const list: readonly unknown[] = typeof value === "string" ? value.split(" ") : Array.isArray(value) ? value : [];
  const scopes = list.flatMap((one) => (typeof one === "string" && one !== "" ? reader.convert(one, key) : []));
  return scopes.length > 0 ? scopes : undefined;
}
