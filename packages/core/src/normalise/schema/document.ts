/** Resolves the references inside a schema. Never fetches anything. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { parseUrl } from "@fairlead/wire/text";
import { isSchema, isText } from "./json-values.ts";
import { subschemas } from "./keywords.ts";
import { decode, memberAt, pointerTo, segmentsOf } from "./pointer.ts";

/** The whole schema or one of its subschemas, with its path. */
export interface Spot {
  readonly raw: unknown;
  readonly path: string;
  /** The base URI for references in this schema. */
  readonly base: string;
}

/** A tool's schema, with a function that finds the target of a reference. */
export interface SchemaDocument {
  readonly root: Spot;
  resolve(reference: string, base: string): Spot | undefined;
}

/** The base URI of a schema without `$id`. Fairlead never sends a request to it. */
const nameless = "schema://here/";

/** Indexes the schemas of a document by their URIs and anchors. */
export function openDocument(raw: JsonObject): SchemaDocument {
  const root: Spot = { raw, path: "", base: baseOf(raw, nameless) };
  let index: ReadonlyMap<string, Spot> | undefined;
  return {
    root,
    resolve(reference, base) {
      const uri = resolveUri(reference, base);
      if (uri === undefined) return undefined;
      const [resource = "", fragment = ""] = splitFragment(uri);
      const pointer = segmentsOf(fragment);
      if (resource === root.base && pointer !== undefined) return follow(root, pointer);
      index ??= indexOf(root);
      if (pointer === undefined) return index.get(`${resource}#${decode(fragment)}`);
      const start = index.get(resource);
      /**
       * Some generators write an `id` that is not meant as a base URI. So a reference with `#` is also looked up from
       * the root of the document.
       */
      return start && (follow(start, pointer) ?? (reference.startsWith("#") ? follow(root, pointer) : undefined));
    },
  };
}

/** Returns the base URI of a schema. `id` is draft 4's name of `$id`. */
export function baseOf(raw: unknown, around: string): string {
  const id = isObject(raw) ? (raw["$id"] ?? raw["id"]) : undefined;
  const uri = isText(id) ? resolveUri(id, around) : undefined;
  return uri === undefined ? around : (splitFragment(uri)[0] ?? around);
}

function resolveUri(reference: string, base: string): string | undefined {
  // Most references begin with `#`. Joining two strings is faster than parsing a URI.
  if (reference.startsWith("#")) return `${base}${reference}`;
  return parseUrl(reference, base)?.href;
}

function splitFragment(uri: string): readonly string[] {
  const at = uri.indexOf("#");
  return at < 0 ? [uri] : [uri.slice(0, at), uri.slice(at + 1)];
}

function follow(start: Spot, segments: readonly string[]): Spot | undefined {
  let spot = start;
  for (const segment of segments) {
    const { raw, path, base } = spot;
    const member = memberAt(raw, segment);
    if (member === undefined) return undefined;
    spot = { raw: member, path: pointerTo(path, segment), base: baseOf(member, base) };
  }
  return isSchema(spot.raw) ? spot : undefined;
}

/**
 * All schemas that have a URI or an anchor of their own, by URI. If two schemas have the same URI, the first counts.
 */
function indexOf(root: Spot): ReadonlyMap<string, Spot> {
  const index = new Map<string, Spot>([[root.base, root]]);
  const add = (uri: string, spot: Spot): void => {
    if (!index.has(uri)) index.set(uri, spot);
  };
  const open: Spot[] = [root];
  for (let spot = open.pop(); spot !== undefined; spot = open.pop()) {
    const { raw, path, base } = spot;
    if (!isObject(raw)) continue;
    add(base, spot);
    for (const keyword of ["$anchor", "$dynamicAnchor"]) {
      if (isText(raw[keyword])) add(`${base}#${raw[keyword]}`, spot);
    }
    // Until draft 7, an anchor was written as an `$id` that contains only a fragment (`#name`).
    for (const id of [raw["$id"], raw["id"]]) if (isText(id) && /^#./.test(id)) add(`${base}${id}`, spot);
    for (const [member, memberPath] of subschemas(raw, path)) {
      open.push({ raw: member, path: memberPath, base: baseOf(member, base) });
    }
  }
  return index;
}
