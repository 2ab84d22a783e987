/** Holds a raw schema against what became of it: every keyword must still be there, or be named in a repair. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import type { CompiledSchema, Repair } from "../../src/normalise/schema/compile.ts";
import { baseOf, openDocument } from "../../src/normalise/schema/document.ts";
import { isText } from "../../src/normalise/schema/json-values.ts";
import { subschemas } from "../../src/normalise/schema/keywords.ts";
import { pointerTo } from "../../src/normalise/schema/pointer.ts";

type Compiled = Extract<CompiledSchema, { kind: "compiled" }>;

/** A copy in which every schema has a title of its own, by which it is found again. */
export function marked(raw: unknown): unknown {
  let count = 0;
  const mark = (schema: unknown): unknown => {
    if (!isObject(schema)) return schema;
    count += 1;
    const title = `schema ${count}`;
    const entries = Object.entries(schema).filter(([name]) => name !== "title");
    const inner = new Map(subschemas(Object.fromEntries(entries), "").map(([member]) => [member, mark(member)]));
    const copy = entries.map(([name, value]) => [name, replaced(value, inner)] as const);
    return Object.fromEntries([["title", title], ...copy]);
  };
  // A copy first: what stands in two places must get two titles.
  return mark(JSON.parse(JSON.stringify(raw)));
}

function replaced(value: unknown, inner: ReadonlyMap<unknown, unknown>): unknown {
  if (inner.has(value)) return inner.get(value);
  if (Array.isArray(value)) return value.map((member) => inner.get(member) ?? member);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inner.get(member) ?? member]));
}

/** The keywords, as pointers, that are neither kept nor repaired. */
export function unaccounted(raw: JsonObject, { schema, repairs }: Compiled): string[] {
  const nodes = new Map<unknown, JsonObject[]>();
  for (const node of everySchema(schema)) nodes.set(node["title"], [...(nodes.get(node["title"]) ?? []), node]);
  const spots = inUse(raw, repairs);
  const merged = new Set(
    spots.flatMap(({ path, target }) => (has(repairs, path, "$ref", "merged") ? (target ?? []) : [])),
  );
  return spots.flatMap(({ node, path }) => {
    if (isMerged(path, repairs) || merged.has(path)) return [];
    return Object.entries(node).flatMap(([keyword, value]) => {
      const isKnown = has(repairs, path, keyword) || isKept(keyword, value, nodes.get(node["title"]) ?? []);
      return isKnown ? [] : [pointerTo(path, keyword)];
    });
  });
}

interface Used {
  readonly node: JsonObject;
  readonly path: string;
  /** Where its reference leads. */
  readonly target?: string;
}

/** Every schema that counts: not in anything left out, and of the definitions those that are referred to. */
function inUse(raw: JsonObject, repairs: readonly Repair[]): Used[] {
  const document = openDocument(raw);
  const used = new Map<string, Used>();
  const open = [document.root];
  for (let spot = open.pop(); spot !== undefined; spot = open.pop()) {
    const { raw: node, path } = spot;
    if (!isObject(node) || used.has(path) || isGone(path, repairs)) continue;
    const base = baseOf(node, spot.base);
    const target = isText(node["$ref"]) ? document.resolve(node["$ref"], base) : undefined;
    used.set(path, { node, path, ...(target && { target: target.path }) });
    const { $defs: _, definitions: __, ...own } = node;
    open.push(...subschemas(own, path).map(([inner, innerPath]) => ({ raw: inner, path: innerPath, base })));
    if (target !== undefined) open.push(target);
  }
  return [...used.values()];
}

function has(repairs: readonly Repair[], path: string, keyword: string, action?: string): boolean {
  return repairs.some(
    (repair) => repair.path === path && repair.keyword === keyword && repair.action === (action ?? repair.action),
  );
}

/** It lies in something that was left out, or of which only words remain. */
function isGone(path: string, repairs: readonly Repair[]): boolean {
  return repairs.some(
    ({ action, ...repair }) => (action === "removed" || action === "moved") && isInside(path, repair),
  );
}

function isInside(path: string, repair: Omit<Repair, "action">): boolean {
  const pointer = pointerTo(repair.path, repair.keyword);
  return path === pointer || path.startsWith(`${pointer}/`);
}

/** It was folded into another schema, so that its own keywords are part of that one. */
function isMerged(path: string, repairs: readonly Repair[]): boolean {
  const above = path.slice(0, Math.max(path.lastIndexOf("/"), 0));
  return repairs.some(({ action, ...repair }) => {
    const pointer = pointerTo(repair.path, repair.keyword);
    return action === "merged" && (path === pointer || above === pointer);
  });
}

/** In a schema of that title, or in one of its alternatives, which have the types of a list of types. */
function isKept(keyword: string, value: unknown, nodes: readonly JsonObject[]): boolean {
  return nodes
    .flatMap((node) => [node, ...(Array.isArray(node["anyOf"]) ? (node["anyOf"] as JsonObject[]) : [])])
    .some((node) => {
      const kept = node[keyword];
      switch (keyword) {
        case "description":
          return String(kept).startsWith(String(value));
        case "properties":
          return isObject(kept) && Object.keys(kept).length >= Object.keys(Object(value)).length;
        case "items":
        case "prefixItems":
        case "anyOf":
          return kept !== undefined;
        case "required":
          return Array.isArray(kept) && kept.length >= new Set(value as unknown[]).size;
        default:
          return JSON.stringify(kept) === JSON.stringify(value);
      }
    });
}

/** The schema and all below it. */
export function everySchema(schema: JsonObject): JsonObject[] {
  return [schema, ...subschemas(schema, "").flatMap(([inner]) => (isObject(inner) ? everySchema(inner) : []))];
}
