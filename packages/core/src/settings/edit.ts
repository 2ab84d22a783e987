/**
 * Edits one part of a settings file and leaves the rest unchanged, byte for byte. Does not edit a file with a syntax
 * error.
 */

import { HostError } from "../errors.ts";
import { privateFileMode } from "../files/atomic/private-folder.ts";
import { type UpdateOptions, updateText } from "../files/atomic/update-text.ts";
import { removeValue, setValue } from "../files/json/json-edit.ts";
import { type Node, parseJsonc } from "../files/json/jsonc.ts";
import type { TargetOptions } from "../files/real-path.ts";
import { childNode, entriesOf, itemNodes, plainValueOf, stringNode } from "./read/nodes.ts";

/**
 * Where the edited file may be. `within`: the root of the workspace that contains the file. Absent for the user's own
 * settings file, which is readable only by the user.
 */
export type EditOptions = TargetOptions;

/** What `writeServer` replaced. */
export interface ReplacedServer {
  /** The entry before, or undefined. */
  readonly replaced: unknown;
  /** `fairlead.servers.NAME` before, or undefined. */
  readonly options: unknown;
}

/**
 * Adds a server to `mcpServers`, and sets options in `fairlead.servers.NAME` of the same file: both or nothing. Returns
 * what it replaced.
 *
 * @param serverOptions The options to set. `null` removes one.
 * @throws HostError `usage` if the name exists and `replace` is false
 */
export async function writeServer(
  file: string,
  name: string,
  entry: Readonly<Record<string, unknown>>,
  {
    replace,
    serverOptions = {},
    ...options
  }: EditOptions & { readonly replace: boolean; readonly serverOptions?: Readonly<Record<string, unknown>> },
): Promise<ReplacedServer> {
  let before: ReplacedServer = { replaced: undefined, options: undefined };
  const optionsPath = ["fairlead", "servers", name];
  const write = (text: string | undefined): string => {
    const isSetting = Object.keys(serverOptions).length > 0;
    openForEdit(file, text, isSetting ? optionsPath : []);
    const root = openForEdit(file, text, ["mcpServers"]);
    const existing = childNode(root, "mcpServers", name);
    if (existing !== undefined && !replace)
      throw new HostError("usage", `"${name}" is already in ${file}`, {
        serverName: name,
        next: "Add --replace to replace the entry.",
      });
    const existingOptions = childNode(root, ...optionsPath);
    before = {
      replaced: existing && plainValueOf(existing),
      options: existingOptions && plainValueOf(existingOptions),
    };
    let written = setValue(text, ["mcpServers", name], entry);
    for (const [key, value] of Object.entries(serverOptions)) {
      const path = [...optionsPath, key];
      if (value !== null) written = setValue(written, path, value);
      else if (childNode(parseJsonc(written).root, ...path) !== undefined)
        written = withoutEmptyParents(removeValue(written, path), optionsPath);
    }
    return written;
  };
  await updateText(file, write, toUpdate(options));
  return before;
}

/** Sets `fairlead.servers.NAME.sandbox`. Returns the server's entry in the file, and the value before. */
export async function setServerSandbox(
  file: string,
  name: string,
  sandbox: unknown,
  options: EditOptions = {},
): Promise<{ readonly entry: unknown; readonly sandbox: unknown }> {
  const path = ["fairlead", "servers", name, "sandbox"];
  let before: { readonly entry: unknown; readonly sandbox: unknown } = { entry: undefined, sandbox: undefined };
  const change = (text: string | undefined): string => {
    const root = openForEdit(file, text, path.slice(0, -1));
    const [entry, existing] = [childNode(root, "mcpServers", name), childNode(root, ...path)];
    before = { entry: entry && plainValueOf(entry), sandbox: existing && plainValueOf(existing) };
    return setValue(text, path, sandbox);
  };
  await updateText(file, change, toUpdate(options));
  return before;
}

/** A change of the word at index `at` in `args`. */
export interface ArgumentChange {
  readonly at: number;
  readonly before: string;
  readonly after: string;
}

/**
 * Replaces one word in a server's `args`. Comments between the words stay.
 *
 * @throws HostError `usage` if the word is no longer `before`
 */
export async function replaceArgument(
  file: string,
  name: string,
  { at, before, after }: ArgumentChange,
  options: EditOptions = {},
): Promise<{ readonly replaced: unknown }> {
  let replaced: unknown;
  const replace = (text = ""): string => {
    const entry = childNode(openForEdit(file, text, ["mcpServers"]), "mcpServers", name);
    const word = itemNodes(childNode(entry, "args"))[at];
    if (entry === undefined || word === undefined || stringNode(word) !== before)
      throw new HostError(
        "usage",
        `"${name}" in ${file} has changed since Fairlead read it; the file was not written`,
        { serverName: name, next: "Try again." },
      );
    replaced = plainValueOf(entry);
    return text.slice(0, word.offset) + JSON.stringify(after) + text.slice(word.offset + word.length);
  };
  await updateText(file, replace, toUpdate(options));
  return { replaced };
}

/** Removes a server from `mcpServers`. Returns the removed entry, or undefined if there was none. */
export async function removeServer(
  file: string,
  name: string,
  options: EditOptions = {},
): Promise<{ readonly removed: unknown }> {
  let removed: unknown;
  const remove = (text: string | undefined): string | undefined => {
    const existing = childNode(openForEdit(file, text, ["mcpServers"]), "mcpServers", name);
    removed = existing && plainValueOf(existing);
    return text === undefined || existing === undefined ? undefined : removeValue(text, ["mcpServers", name]);
  };
  await updateText(file, remove, toUpdate(options));
  return { removed };
}

/**
 * Enables or disables a server. Enabling removes the key that disabling wrote, because servers are enabled by default.
 */
export async function setServerEnabled(
  file: string,
  name: string,
  enabled: boolean,
  options: EditOptions = {},
): Promise<void> {
  const path = ["fairlead", "servers", name, "enabled"];
  const change = (text: string | undefined): string | undefined => {
    const root = openForEdit(file, text, path.slice(0, -1));
    if (!enabled) return setValue(text, path, false);
    if (text === undefined || childNode(root, ...path) === undefined) return undefined;
    return withoutEmptyParents(removeValue(text, path), path.slice(0, -1));
  };
  await updateText(file, change, toUpdate(options));
}

/** Removes `disabled` from a server's entry, so that the entry is as if it had never been disabled. */
export async function removeEntrySwitch(file: string, name: string, options: EditOptions = {}): Promise<void> {
  const path = ["mcpServers", name, "disabled"];
  const change = (text: string | undefined): string | undefined => {
    const node = childNode(openForEdit(file, text, path.slice(0, -1)), ...path);
    return text === undefined || node === undefined ? undefined : removeValue(text, path);
  };
  await updateText(file, change, toUpdate(options));
}

function toUpdate({ within }: EditOptions): UpdateOptions {
  return within === undefined ? { mode: privateFileMode } : { within };
}

function withoutEmptyParents(text: string, path: readonly string[]): string {
  const node = childNode(parseJsonc(text).root, ...path);
  const isEmpty = node !== undefined && /^\{\s*\}$/.test(text.slice(node.offset, node.offset + node.length));
  return isEmpty && path.length > 0 ? withoutEmptyParents(removeValue(text, path), path.slice(0, -1)) : text;
}

/** Parses the file. Throws if it has a syntax error, or if the value of a key in `objects` is not an object. */
function openForEdit(file: string, text: string | undefined, objects: readonly string[]): Node | undefined {
  if (text === undefined) return undefined;
  const document = parseJsonc(text);
  const { root } = document;
  const [error] = document.errors;
  const refuse = (message: string, { line, column }: { line: number; column: number }): HostError =>
    new HostError("settings_invalid", `${file}:${line}:${column}: ${message}; the file was not changed`, {
      next: `Correct ${file} at line ${line}, column ${column}, then try again.`,
    });
  if (error !== undefined) throw refuse(error.message, error);
  let node = root;
  for (const name of ["", ...objects]) {
    if (name !== "") node = entriesOf(node).get(name)?.value;
    if (node !== undefined && node.type !== "object")
      throw refuse(
        name === "" ? "the file must hold an object, { … }" : `"${name}" must be an object`,
        document.positionAt(node.offset),
      );
  }
  return root;
}
