/** Checks the items of a server's list. Repairs small mistakes, and drops items that cannot be used. */

import { paramHeadersOf } from "../http/param-headers.ts";
import type { JsonObject } from "../session.ts";
import { isObject } from "./json.ts";

/** The kinds of lists that a server can have. */
export type ListKind = "tools" | "prompts" | "resources" | "resourceTemplates" | "skills";

/** Members that every listed item may have. Other members are kept without a check. */
export interface Described {
  readonly title?: string;
  readonly description?: string;
  readonly [key: string]: unknown;
}

/** A tool of `tools/list`. */
export interface ListedTool extends Described {
  readonly name: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
  readonly execution?: JsonObject;
}

/** A prompt of `prompts/list`. */
export interface ListedPrompt extends Described {
  readonly name: string;
  readonly arguments?: readonly JsonObject[];
}

/** A resource of `resources/list`. */
export interface ListedResource extends Described {
  readonly uri: string;
  readonly name: string;
  readonly mimeType?: string;
}

/** A template of `resources/templates/list`. */
export interface ListedResourceTemplate extends Described {
  readonly uriTemplate: string;
  readonly name: string;
  readonly mimeType?: string;
}

/** An entry of `skills/list` (the extension `io.modelcontextprotocol/skills`). Only its URI is checked. */
interface ListedSkill extends Described {
  readonly uri: string;
}

interface ItemTypes {
  readonly tools: ListedTool;
  readonly prompts: ListedPrompt;
  readonly resources: ListedResource;
  readonly resourceTemplates: ListedResourceTemplate;
  readonly skills: ListedSkill;
}

/** The type of the items in a list of this kind. */
export type ListedItem<K extends ListKind> = ItemTypes[K];

/** An item that was dropped or repaired, and why. `name` is absent if the item has none. */
export interface DroppedItem {
  readonly name?: string;
  readonly reason: string;
}

export interface CheckedItems<K extends ListKind> {
  readonly items: ListedItem<K>[];
  readonly dropped: DroppedItem[];
  readonly repaired: DroppedItem[];
}

interface Shape {
  /** The member that identifies an item. An item without it is dropped. */
  readonly key: string;
  /** Required members, each with a default that replaces an invalid value. */
  readonly needed: readonly (Member & { readonly instead: (entry: JsonObject) => unknown })[];
  /** Optional members. An invalid value is removed. */
  readonly optional: readonly Member[];
}

interface Member {
  readonly member: string;
  readonly fits: Check;
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isName: Check = (value) => typeof value === "string" && value !== "";
const isList: Check = (value) => Array.isArray(value) && value.every(isObject);

const described: Shape["optional"] = [
  { member: "title", fits: isText },
  { member: "description", fits: isText },
  { member: "annotations", fits: isObject },
  { member: "_meta", fits: isObject },
];
const mimeType = { member: "mimeType", fits: isText };

const shapes: Readonly<Record<ListKind, Shape>> = {
  tools: {
    key: "name",
    needed: [{ member: "inputSchema", fits: isObject, instead: () => ({ type: "object" }) }],
    optional: [...described, { member: "outputSchema", fits: isObject }, { member: "execution", fits: isObject }],
  },
  prompts: { key: "name", needed: [], optional: [...described, { member: "arguments", fits: isList }] },
  resources: {
    key: "uri",
    needed: [{ member: "name", fits: isText, instead: (entry) => entry["uri"] }],
    optional: [...described, mimeType],
  },
  resourceTemplates: {
    key: "uriTemplate",
    needed: [{ member: "name", fits: isText, instead: (entry) => entry["uriTemplate"] }],
    optional: [...described, mimeType],
  },
  skills: { key: "uri", needed: [], optional: [] },
};

/**
 * Checks items. Adds usable and repaired items to `into.items`, and what was dropped or repaired to the other lists.
 *
 * @param mirrorsHeaders True for a modern HTTP server: a tool whose schema has an invalid `x-mcp-header` is dropped.
 */
export function checkItems<K extends ListKind>(
  kind: K,
  entries: readonly unknown[],
  into: CheckedItems<K>,
  mirrorsHeaders: boolean,
): void {
  for (const entry of entries) {
    const item = isItem(kind, entry) ? entry : repaired(kind, entry, into.repaired);
    const fault = item !== undefined && mirrorsHeaders ? headerFault(item["inputSchema"]) : undefined;
    if (item === undefined || fault !== undefined)
      into.dropped.push({ ...nameOf(kind, entry), reason: fault ?? whyNot(kind, entry) });
    else into.items.push(item);
  }
}

function isItem<K extends ListKind>(kind: K, entry: unknown): entry is ListedItem<K> {
  if (!isObject(entry)) return false;
  const { key, needed, optional } = shapes[kind];
  return isName(entry[key]) && allFit(entry, needed, false) && allFit(entry, optional, true);
}

/** A loop with an index, because an iterator would allocate memory for each item. */
function allFit(entry: JsonObject, members: readonly Member[], mayBeMissing: boolean): boolean {
  for (let index = 0; index < members.length; index += 1) {
    const expected = members[index];
    const value = expected && entry[expected.member];
    if (!(mayBeMissing && value === undefined) && !expected?.fits(value)) return false;
  }
  return true;
}

/**
 * Removes invalid optional members, and sets defaults for required members. Returns undefined if that is not enough.
 */
function repaired<K extends ListKind>(kind: K, entry: unknown, notes: DroppedItem[]): ListedItem<K> | undefined {
  const { key, needed, optional } = shapes[kind];
  if (!isObject(entry) || !isName(entry[key])) return undefined;
  const copy = { ...entry };
  for (const { member, fits, instead } of needed) {
    if (fits(entry[member])) continue;
    copy[member] = instead(entry);
    notes.push({ ...nameOf(kind, entry), reason: `${member} is missing or invalid` });
  }
  for (const { member, fits } of optional) {
    if (entry[member] === undefined || fits(entry[member])) continue;
    delete copy[member];
    notes.push({ ...nameOf(kind, entry), reason: `${member} is invalid and was removed` });
  }
  return isItem(kind, copy) ? copy : undefined;
}

function headerFault(inputSchema: unknown): string | undefined {
  const found = paramHeadersOf(inputSchema);
  return found.valid ? undefined : found.reason;
}

function whyNot(kind: ListKind, entry: unknown): string {
  return isObject(entry) ? `it has no ${shapes[kind].key}` : "it is not an object";
}

/** Returns `{ name }` with the item's name, or with the URI of a resource. Returns `{}` if the item has none. */
export function nameOf(kind: ListKind, entry: unknown): { name?: string } {
  const name = isObject(entry) ? entry[shapes[kind].key] : undefined;
  return typeof name === "string" ? { name } : {};
}
