/** Converts references into parts of a schema that draft 2020-12 names differently. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import type { SchemaDocument, Spot } from "../document.ts";
import { isFilled, isList } from "../json-values.ts";
import { holds } from "../keywords.ts";
import { pointerTo, stepsOf } from "../pointer.ts";

/** The name in `$defs` of a definition from the older `definitions`. */
export function definitionName(schema: JsonObject, name: string): string {
  const taken = schema["$defs"];
  let candidate = name;
  while (isObject(taken) && Object.hasOwn(taken, candidate)) candidate = `${candidate}_`;
  return candidate;
}

/** Returns the converted reference; undefined if its target does not exist in the converted document. */
export function modernReference(reference: string, target: Spot, { root }: SchemaDocument): string | undefined {
  const segments = stepsOf(target.path);
  const renamed = renamedSegments(root.raw, segments);
  if (renamed === undefined) return undefined;
  const at = reference.indexOf("#");
  const isPointer = at >= 0 && reference.startsWith("/", at + 1);
  if (!isPointer || renamed.every((segment, index) => segment === segments[index])) return reference;
  // From the root of the document, which every reference can reach.
  return `#${encodeURI(pointerTo("", ...renamed)).replaceAll("#", "%23")}`;
}

function renamedSegments(root: unknown, segments: readonly string[]): readonly string[] | undefined {
  const renamed: string[] = [];
  let node = root;
  for (let at = 0; at < segments.length && isObject(node); ) {
    const [keyword = "", name = ""] = [segments[at], segments[at + 1]];
    const value = node[keyword];
    const held = holds(keyword, value);
    if (isReplaced(node, keyword, name)) return undefined;
    if (held === "schema" || held === "data") {
      renamed.push(keyword === "additionalItems" ? "items" : keyword);
      if (held === "data") return [...renamed, ...segments.slice(at + 1)];
      node = value;
      at += 1;
    } else {
      renamed.push(modernName(keyword, held));
      if (at + 1 < segments.length) renamed.push(keyword === "definitions" ? definitionName(node, name) : name);
      node = Reflect.get(Object(value), name);
      at += 2;
    }
  }
  return renamed;
}

/** Whether a newer keyword beside the older one says the same: the newer one counts. */
export function isReplaced(schema: JsonObject, keyword: string, name: string): boolean {
  const { items, prefixItems, dependentSchemas } = schema;
  if (keyword === "items") return isList(items) && (items.length === 0 || isFilled(prefixItems));
  if (keyword === "additionalItems") return !isList(items) || isFilled(prefixItems);
  return keyword === "dependencies" && isObject(dependentSchemas) && Object.hasOwn(dependentSchemas, name);
}

function modernName(keyword: string, held: "list" | "map"): string {
  if (keyword === "definitions") return "$defs";
  if (keyword === "dependencies") return "dependentSchemas";
  return keyword === "items" && held === "list" ? "prefixItems" : keyword;
}
