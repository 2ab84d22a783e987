/** JSON pointers (RFC 6901), as text in a URI fragment and as our own paths; and what a `$ref` points at. Nothing is ever fetched. */

import { member } from "@fairlead/wire/json";

export function pointerTo(path: string, ...segments: readonly (string | number)[]): string {
  return segments.reduce<string>((text, segment) => `${text}/${escapeSegment(String(segment))}`, path);
}

function escapeSegment(segment: string): string {
  return /[~/]/.test(segment) ? segment.replaceAll("~", "~0").replaceAll("/", "~1") : segment;
}

/** `/a~1b/%25` in a URI → `["a/b", "%"]`; undefined where it is no pointer. */
export function segmentsOf(fragment: string): readonly string[] | undefined {
  return fragment === "" || fragment.startsWith("/") ? stepsOf(decode(fragment)) : undefined;
}

/** `/a~1b/%` as we write it → `["a/b", "%"]`. */
export function stepsOf(path: string): readonly string[] {
  return path === "" ? [] : path.slice(1).split("/").map(unescapeSegment);
}

/** Where the last step of a path starts, and its name. */
export function lastStep(path: string): readonly [path: string, name: string] {
  const at = path.lastIndexOf("/");
  return at < 0 ? ["", ""] : [path.slice(0, at), unescapeSegment(path.slice(at + 1))];
}

function unescapeSegment(segment: string): string {
  return segment.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Percent signs that encode nothing stay as they are: some generators do not escape them. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

/** The own member of an object or a list. */
export function memberAt(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

/** What a reference such as `#/$defs/item` points at in its own document; undefined if it points at nothing there. */
export function followReference(root: unknown, reference: string): unknown {
  const steps = reference.startsWith("#") ? segmentsOf(reference.slice(1)) : undefined;
  return steps?.reduce<unknown>(memberAt, root);
}

/** The schema itself, or what its `$ref` leads to; undefined where it leads to nothing, or through more than `most` references. */
export function resolved(schema: unknown, root: unknown, most = 16): unknown {
  const reference = member(schema, "$ref");
  if (typeof reference !== "string") return schema;
  return most === 0 ? undefined : resolved(followReference(root, reference), root, most - 1);
}

/** The last word of a reference, which is the name that its author gave; undefined for the whole document. */
export function referenceName(reference: string): string | undefined {
  const word = reference.split(/[/#]/).findLast((segment) => segment !== "");
  return word === undefined ? undefined : unescapeSegment(decode(word));
}
