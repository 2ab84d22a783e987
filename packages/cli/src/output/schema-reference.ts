/** Where a `$ref` points to within its own document; nothing is ever fetched. Pure. */

import { member } from "./json-shape.ts";

/** The schema, following references as long as they lead somewhere; so many that lead to each other are none. */
export function resolved(schema: unknown, root: unknown, most = 16): unknown {
  const reference = member(schema, "$ref");
  if (typeof reference !== "string") return schema;
  return most === 0 ? undefined : resolved(target(reference, root), root, most - 1);
}

/** What a reference names; nothing if that is not in this document. */
export function target(reference: string, root: unknown): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let found = root;
  for (const segment of reference.slice(2).split("/")) {
    const key = toKey(segment);
    if (key === undefined) return undefined;
    found = Array.isArray(found) ? found[Number(key)] : member(found, key);
  }
  return found;
}

/** The last word of a reference, which is the name that its author gave. */
export function lastWord(reference: string): string {
  const word = reference.slice(reference.lastIndexOf("/") + 1);
  return word === "" || word === "#" ? "…" : (toKey(word) ?? word);
}

/** JSON pointers in a URL have two ways of escaping, one in the other. */
function toKey(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined;
  }
}
