/** Reads values of a parsed settings file. If a key is repeated, its last value counts. */

import type { Node } from "../../files/json/jsonc.ts";

export interface JsonProperty {
  readonly name: string;
  readonly key: Node;
  readonly value: Node;
}

/** All properties of an object as written, including repeated ones. */
export function propertyNodes(node: Node | undefined): readonly JsonProperty[] {
  const found: JsonProperty[] = [];
  for (const { children: [key, value] = [] } of node?.type === "object" ? (node.children ?? []) : [])
    if (key !== undefined && value !== undefined) found.push({ name: String(key.value), key, value });
  return found;
}

/** The last property of each name, in the order in which the names first appear. */
export function entriesOf(node: Node | undefined): ReadonlyMap<string, JsonProperty> {
  return new Map(propertyNodes(node).map((property) => [property.name, property]));
}

export function childNode(node: Node | undefined, ...path: readonly string[]): Node | undefined {
  return path.reduce<Node | undefined>(lastValueOf, node);
}

/**
 * The value of the last property with this name. Creates no lists, because this function runs for every key of every
 * entry.
 */
function lastValueOf(node: Node | undefined, name: string): Node | undefined {
  const properties = node?.type === "object" ? (node.children ?? []) : [];
  for (let at = properties.length - 1; at >= 0; at -= 1) {
    const parts = properties[at]?.children;
    if (parts?.[1] !== undefined && String(parts[0]?.value) === name) return parts[1];
  }
  return undefined;
}

export function itemNodes(node: Node | undefined): readonly Node[] {
  return node?.type === "array" ? (node.children ?? []) : [];
}

export function stringNode(node: Node | undefined): string | undefined {
  return node?.type === "string" ? String(node.value) : undefined;
}

export function switchOf(node: Node | undefined): boolean | undefined {
  return node?.type === "boolean" ? node.value === true : undefined;
}

export function numberOf(node: Node | undefined): number | undefined {
  return node?.type === "number" ? Number(node.value) : undefined;
}

/** The strings in a list. Leaves out all items that are not strings. */
export function textsOf(node: Node | undefined): readonly string[] {
  return itemNodes(node).flatMap((item) => stringNode(item) ?? []);
}

/** The members of an object as strings. Converts numbers and booleans to strings. */
export function textMapOf(node: Node | undefined): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const { name, value } of entriesOf(node).values()) {
    if (value.type === "string" || value.type === "number" || value.type === "boolean")
      texts.set(name, String(value.value));
  }
  return texts;
}

export function plainValueOf(node: Node): unknown {
  if (node.type === "array") return itemNodes(node).map(plainValueOf);
  // Uses `fromEntries`, because a key may be named `__proto__`, and an assignment to that key would set the prototype.
  if (node.type === "object")
    return Object.fromEntries(propertyNodes(node).map(({ name, value }) => [name, plainValueOf(value)]));
  return node.value;
}

/** JSON with sorted keys and no spaces. Equal values have equal texts. */
export function canonicalOf(node: Node, leaveOut: readonly string[] = []): string {
  if (node.type === "array")
    return `[${itemNodes(node)
      .map((item) => canonicalOf(item))
      .join()}]`;
  if (node.type !== "object") return typeof node.value === "number" ? String(node.value) : JSON.stringify(node.value);
  const properties = [...entriesOf(node).values()].filter(({ name }) => !leaveOut.includes(name));
  properties.sort((a, b) => (a.name < b.name ? -1 : 1));
  return `{${properties.map(({ name, value }) => `${JSON.stringify(name)}:${canonicalOf(value)}`).join()}}`;
}
