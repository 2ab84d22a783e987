/** Finds references of a schema that lead to no schema, or that form a cycle. */

import type { Schema } from "../request.ts";
import { below, isSchema, listAt, type Spot, spotsIn } from "./schema-walk.ts";

export function danglesAt(root: Schema): Spot[] {
  return spotsIn(root).filter(({ schema }) => schema["$ref"] !== undefined && !targetOf(root, schema));
}

/** Whether some value would have to contain itself: a cycle without an optional property or a list in it. */
export function isEndless(root: Schema): boolean {
  return leadsBack(root, root, new Set());
}

function leadsBack(root: Schema, schema: Schema, open: ReadonlySet<Schema>): boolean {
  if (open.has(schema)) return true;
  const inside = new Set([...open, schema]);
  const target = schema["$ref"] === undefined ? undefined : targetOf(root, schema);
  if (target) return leadsBack(root, target, inside);
  const required = new Set(listAt(schema, "required"));
  return below({ schema, steps: [] })
    .filter(({ steps: [step] }) => step?.keyword === "properties" && required.has(step.name))
    .some((spot) => leadsBack(root, spot.schema, inside));
}

function targetOf(root: Schema, schema: Schema): Schema | undefined {
  const reference = String(schema["$ref"]);
  const fragment = reference.startsWith("#") ? reference.slice(1) : undefined;
  if (fragment === undefined) return spotsIn(root).find((spot) => spot.schema["$id"] === reference)?.schema;
  if (fragment !== "" && !fragment.startsWith("/"))
    return spotsIn(root).find((spot) => spot.schema["$anchor"] === fragment)?.schema;
  let target: unknown = root;
  for (const word of fragment.split("/").slice(1)) {
    const key = decodeURIComponent(word).replaceAll("~1", "/").replaceAll("~0", "~");
    target =
      typeof target === "object" && target !== null && Object.hasOwn(target, key)
        ? Reflect.get(target, key)
        : undefined;
  }
  return isSchema(target) ? target : undefined;
}
