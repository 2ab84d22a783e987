/**
 * Combines keys that occur more than once in a settings file. Of lists, numbers and booleans, the stricter value counts
 * (see `strictIfMore`). Of strings, the last value counts.
 */

import type { Node } from "../../files/json/jsonc.ts";
import type { ObjectKey, SettingsKey } from "../schema/key.ts";
import { settingsSchema } from "../schema/schema.ts";
import { itemNodes, type JsonProperty, propertyNodes, stringNode } from "./nodes.ts";

/**
 * Keys for which the larger value is stricter: the list with more names, or `true`. For a key that is not in this set,
 * the smaller value is stricter.
 */
const strictIfMore = new Set([
  "mcp.excluded",
  "fairlead.permissions.denyTools",
  "fairlead.servers.<name>.hideResults",
  "security.folderTrust.enabled",
]);

/**
 * Returns the file's top-level object with repeated keys combined. Skips the entries of `mcpServers`, because
 * validation refuses repeated keys there.
 */
export function combineRepeated(root: Node): Node {
  return combineObject([root], settingsSchema, []);
}

function combine(nodes: readonly Node[], key: SettingsKey, path: readonly string[]): Node | undefined {
  const last = nodes.at(-1);
  if (last === undefined || path[0] === "mcpServers") return last;
  switch (key.type) {
    case "object":
      return combineWithSingle(nodes, key, path);
    case "named":
    case "lists":
      return combineObject(nodes, key, path);
    case "list":
      return strictIfMore.has(path.join(".")) ? unionOf(nodes, last) : intersectionOf(nodes, last);
    case "switch": {
      const strict = strictIfMore.has(path.join("."));
      return nodes.find(({ value }) => value === strict) ?? nodes.find(({ type }) => type !== "boolean") ?? last;
    }
    case "number":
      return nodes.filter(({ type }) => type === "number").sort((a, b) => Number(a.value) - Number(b.value))[0] ?? last;
    case "text":
    case "texts":
    case "section":
      return last;
  }
}

/** Combines the values of a key whose value is an object, or a single value (`instead`), such as `toolBudget`. */
function combineWithSingle(nodes: readonly Node[], key: ObjectKey, path: readonly string[]): Node | undefined {
  const { instead, insteadSets } = key;
  if (instead === undefined) return combineObject(nodes, key, path);
  if (nodes.every(({ type }) => type !== "object")) return combine(nodes, instead, path);
  const off = nodes.find(({ value }) => value === false);
  if (instead.type === "switch" && off !== undefined) return off;
  return combineObject(insteadSets === undefined ? nodes : nodes.map((node) => toObject(node, insteadSets)), key, path);
}

/** Converts a number to an object with this number under the given name. Returns other values unchanged. */
function toObject(node: Node, name: string): Node {
  if (node.type !== "number") return node;
  const { offset, length } = node;
  const key: Node = { type: "string", offset, length, value: name };
  return { type: "object", offset, length, children: [toNode({ name, key, value: node })] };
}

/** Combines the values that are objects. If none is an object, the last value counts. */
function combineObject(
  nodes: readonly Node[],
  key: Extract<SettingsKey, { type: "object" | "named" | "lists" }>,
  path: readonly string[],
): Node {
  const objects = nodes.filter(({ type }) => type === "object");
  const last = objects.at(-1) ?? nodes.at(-1);
  if (last === undefined) throw new TypeError("expected at least one value of the settings key");
  const byName = new Map<string, JsonProperty[]>();
  for (const property of objects.flatMap(propertyNodes)) {
    const others = byName.get(property.name);
    if (others === undefined) byName.set(property.name, [property]);
    else others.push(property);
  }
  const children = [...byName].flatMap(([name, properties]) => {
    const inner = innerKey(key, name);
    const step = key.type === "named" ? key.placeholder : name;
    const combined = inner && combine(valuesOf(properties), inner, [...path, step]);
    return combined === undefined
      ? properties.slice(-1).map(toNode)
      : [toNode({ ...lastOf(properties), value: combined })];
  });
  return objects.length === 0 ? last : { ...last, children };
}

function innerKey(
  key: Extract<SettingsKey, { type: "object" | "named" | "lists" }>,
  name: string,
): SettingsKey | undefined {
  if (key.type === "named") return key.each;
  if (key.type === "lists") return { ...key, type: "list" };
  return Object.hasOwn(key.properties, name) ? key.properties[name] : undefined;
}

const valuesOf = (properties: readonly JsonProperty[]): Node[] => properties.map(({ value }) => value);

function lastOf(properties: readonly JsonProperty[]): JsonProperty {
  const last = properties.at(-1);
  if (last === undefined) throw new TypeError("expected at least one value of the settings key");
  return last;
}

function toNode({ key, value }: JsonProperty): Node {
  const length = value.offset + value.length - key.offset;
  return { type: "property", offset: key.offset, length, children: [key, value] };
}

/** All names that occur in at least one list of a repeated key. A string instead of a list counts as one name. */
function unionOf(nodes: readonly Node[], last: Node): Node {
  if (nodes.length === 1) return last;
  const children = nodes.flatMap((node) => (stringNode(node) === undefined ? itemNodes(node) : [node]));
  return { type: "array", offset: last.offset, length: last.length, children };
}

/** The names that occur in every list of a repeated key. A value that is not a list contains no names. */
function intersectionOf(nodes: readonly Node[], last: Node): Node {
  if (nodes.length === 1) return last;
  const others = nodes.slice(0, -1).map((node) => new Set(itemNodes(node).map(stringNode)));
  const children = itemNodes(last).filter((item) => others.every((names) => names.has(stringNode(item))));
  return { type: "array", offset: last.offset, length: last.length, children };
}
