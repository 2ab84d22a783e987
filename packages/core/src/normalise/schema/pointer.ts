/** Reads and writes JSON pointers (RFC 6901), and finds the target of a `$ref` in the same document. */

import { member } from "@fairlead/wire/json";

export function pointerTo(path: string, ...segments: readonly (string | number)[]): string {
  return segments.reduce<string>((text, segment) => `${text}/${escapeSegment(String(segment))}`, path);
}

function escapeSegment(segment: string): string {
  return /[~/]/.test(segment) ? segment.replaceAll("~", "~0").replaceAll("/", "~1") : segment;
}

/** Splits the fragment of a URI: `/a~1b/%25` → `["a/b", "%"]`. Undefined if the fragment is not a pointer. */
export function segmentsOf(fragment: string): readonly string[] | undefined {
  return fragment === "" || fragment.startsWith("/") ? stepsOf(decode(fragment)) : undefined;
}

/** Splits a path in Fairlead's own form, without percent-encoding: `/a~1b/%` → `["a/b", "%"]`. */
export function stepsOf(path: string): readonly string[] {
  return path === "" ? [] : path.slice(1).split("/").map(unescapeSegment);
}

/** Splits a path into the path of its parent and its last segment. */
export function lastStep(path: string): readonly [path: string, name: string] {
  const at = path.lastIndexOf("/");
  return at < 0 ? ["", ""] : [path.slice(0, at), unescapeSegment(path.slice(at + 1))];
}

function unescapeSegment(segment: string): string {
  return segment.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Decodes percent-encoding. Leaves a lone percent sign as it is, because some generators do not escape it. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

/** Returns a member of an object or a list, but never an inherited member. */
export function memberAt(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

/** Returns the target of a reference such as `#/$defs/item` in the same document. Undefined if there is no target. */
export function followReference(root: unknown, reference: string): unknown {
  const steps = reference.startsWith("#") ? segmentsOf(reference.slice(1)) : undefined;
  return steps?.reduce<unknown>(memberAt, root);
}

/**
 * Returns the target of a schema's `$ref`, or the schema itself if it has none. Undefined if there is no target, or
 * after more than `most` references in a row.
 */
export function resolved(schema: unknown, root: unknown, most = 16): unknown {
  const reference = member(schema, "$ref");
  if (typeof reference !== "string") return schema;
  return most === 0 ? undefined : resolved(followReference(root, reference), root, most - 1);
}

/** The last segment of a reference, as a name for its target. Undefined if the target is the whole document. */
export function referenceName(reference: string): string | undefined {
  const word = reference.split(/[/#]/).findLast((segment) => segment !== "");
  return word === undefined ? undefined : unescapeSegment(decode(word));
}
