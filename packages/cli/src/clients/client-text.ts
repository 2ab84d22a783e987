/** Reads and edits the servers in a client's settings file. All bytes outside these servers stay the same. */

import { isDeepStrictEqual } from "node:util";
import { HostError } from "@fairlead/core/errors";
import { isObject, objectOf } from "@fairlead/wire/json";
import { type ClientName, clients, type ForeignEntry } from "./client.ts";
import type { EditableText, RefuseText } from "./editable-text.ts";
import { openJsonText } from "./json-client-text.ts";
import { openTomlText } from "./toml-client-text.ts";

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
  const refuse: RefuseText = (message, { line, column }, cause) =>
    new HostError("settings_invalid", `${file}:${line}:${column}: ${message}; the file was not changed`, {
      next: `Correct ${file} at line ${line}, column ${column}, then try again.`,
      cause,
    });
  const context = { client, refuse };
  return clients[client].syntax === "toml" ? openTomlText(text ?? "", context) : openJsonText(text ?? "", context);
}

/** A change of a client's file: first removes servers, then adds or replaces one server. */
export interface TextChange {
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
