/** What became of a list of tools. A definition is what a person or a model was shown of a tool. Pure. */

import type { ToolChanges } from "../events.ts";
import { canonicalJson } from "../text/canonical-json.ts";
import type { CatalogTool } from "./catalog.ts";

export function toolChanges(before: readonly CatalogTool[], after: readonly CatalogTool[]): ToolChanges {
  const old = new Map(before.map((tool) => [tool.name, tool]));
  const now = new Set(after.map(({ name }) => name));
  return {
    added: after.flatMap(({ name }) => (old.has(name) ? [] : [name])),
    removed: before.flatMap(({ name }) => (now.has(name) ? [] : [name])),
    changed: after.flatMap((tool) => {
      const known = old.get(tool.name);
      return known === undefined || isSameDefinition(known, tool) ? [] : [tool.name];
    }),
  };
}

export function isSameDefinition(one: CatalogTool, other: CatalogTool): boolean {
  try {
    return one === other || definitionOf(one) === definitionOf(other);
  } catch {
    // Nested deeper than can be walked: not known to be the same.
    return false;
  }
}

/** Equal for equal definitions, in whatever order their members stand. Icons and the like decide nothing. */
export function definitionOf({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: CatalogTool): string {
  return canonicalJson({ name, title, description, inputSchema, outputSchema, annotations });
}
