/** A client's settings in JSON, with or without comments. */

import { removeValue, setValue } from "@fairlead/core/files/json/json-edit";
import { type JsoncDocument, parseJsonc } from "@fairlead/core/files/json/jsonc";
import { plainValueOf, propertyNodes } from "@fairlead/core/settings/read/nodes";
import { objectOf } from "@fairlead/wire/json";
import { clients, type ForeignEntry } from "./client.ts";
import type { EditableText, ServerInText, TextContext } from "./editable-text.ts";

/** Parses a client's JSON settings. Throws the error from `context.refuse` if the text has a mistake. */
export function openJsonText(text: string, context: TextContext): EditableText {
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
