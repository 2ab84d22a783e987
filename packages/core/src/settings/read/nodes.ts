/** Reads values of a parsed settings file. If a key is repeated, its last value counts. */

import type { Node } from "../../files/json/jsonc.ts";

/** One property of an object, with the syntax nodes of its key and value. */
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

/** Returns the properties of an object by name. If a name is repeated, its last property counts. */
export function entriesOf(node: Node | undefined): ReadonlyMap<string, JsonProperty> {
  return new Map(propertyNodes(node).map((property) => [property.name, property]));
}

/** Returns the value at a path of keys. Undefined if a key is absent. */
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

/** Returns the items of a list. Empty if the value is not a list. */
export function itemNodes(node: Node | undefined): readonly Node[] {
  return node?.type === "array" ? (node.children ?? []) : [];
}

/** Returns the value of a string. Undefined if the value is not a string. */
export function stringNode(node: Node | undefined): string | undefined {
  return node?.type === "string" ? String(node.value) : undefined;
}

/** Returns the value of a boolean. Undefined if the value is not a boolean. */
export function switchOf(node: Node | undefined): boolean | undefined {
  return node?.type === "boolean" ? node.value === true : undefined;
}

/** Returns the value of a number. Undefined if the value is not a number. */
export function numberOf(node: Node | undefined): number | undefined {
  return node?.type === "number" ? Number(node.value) : undefined;
}

/** The strings in a list. Leaves out all items that are not strings. */
export function textsOf(node: Node | undefined): readonly string[] {
  return itemNodes(node).flatMap((item) => stringNode(item) ?? []);
}

/** Like `textsOf`, but undefined if there is no value. */
export function textListIn(node: Node | undefined, key: string): readonly string[] | undefined {
  const list = childNode(node, key);
  return list && textsOf(list);
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

/** Converts a syntax node to a JavaScript value. */
export function plainValueOf(node: Node): unknown {
  if (node.type === "array") return itemNodes(node).map(plainValueOf);
  // Uses `fromEntries`, because a key may be named `__proto__`, and an assignment to that key would set the prototype.
  if (node.type === "object")
    return Object.fromEntries(propertyNodes(node).map(({ name, value }) => [name, plainValueOf(value)]));
  return node.value;
}

/** Returns JSON with sorted keys and no spaces, so that equal values have equal texts. */
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
