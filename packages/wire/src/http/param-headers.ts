/** Tool arguments that a server wants repeated in headers: the `x-mcp-header` marks in an input schema. */

import { headerValue } from "../eras/modern-envelope.ts";
import type { JsonObject } from "../session.ts";
import { isObject } from "../shapes/json.ts";
import { clip } from "../shapes/text.ts";

export interface ParamHeader {
  readonly header: string;
  /** The names of the properties that lead to the argument. */
  readonly path: readonly string[];
}

export type ParamHeaders =
  | { readonly valid: true; readonly headers: readonly ParamHeader[] }
  /** A tool with such a schema must not be offered. */
  | { readonly valid: false; readonly reason: string };

const mark = "x-mcp-header";
const fieldName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const markableTypes: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);

/** Where a schema holds other schemas that an argument's value cannot be reached through by names alone. */
const branches: ReadonlySet<string> = new Set([
  "items",
  "prefixItems",
  "additionalItems",
  "contains",
  "unevaluatedItems",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
]);
const namedBranches: ReadonlySet<string> = new Set([
  "patternProperties",
  "dependentSchemas",
  "dependencies",
  "$defs",
  "definitions",
]);

/** Deeper or larger schemas than these are nobody's work. */
const deepest = 64;
const largest = 100_000;

export function paramHeadersOf(inputSchema: unknown): ParamHeaders {
  return mayHaveMarks(inputSchema) ? lookThrough(inputSchema) : { valid: true, headers: [] };
}

/** Almost no schema has marks, and nothing walks through objects as fast as this does. */
function mayHaveMarks(schema: unknown): boolean {
  try {
    return String(JSON.stringify(schema)).includes(mark);
  } catch {
    // Too deep even for that.
    return true;
  }
}

function lookThrough(inputSchema: unknown): ParamHeaders {
  const headers: ParamHeader[] = [];
  const path: string[] = [];
  let visited = 0;
  let reason: string | undefined;

  /** @param reachable Whether the path leads to the value, by names alone. */
  function visit(schema: unknown, depth: number, reachable: boolean): void {
    if (reason !== undefined || !isObject(schema)) return;
    visited += 1;
    if (depth > deepest || visited > largest) reason = "the schema is too deep or too large to look through";
    else for (const key of Object.keys(schema)) visitMember(schema, key, depth + 1, reachable);
  }

  function visitMember(schema: JsonObject, key: string, depth: number, reachable: boolean): void {
    const value = schema[key];
    if (key === mark) reason ??= take(schema, reachable);
    else if (typeof value !== "object" || value === null) return;
    else if (key === "properties") visitNamed(value, depth, reachable);
    else if (namedBranches.has(key)) visitNamed(value, depth, false);
    else if (branches.has(key)) for (const one of Array.isArray(value) ? value : [value]) visit(one, depth, false);
  }

  function visitNamed(schemas: object, depth: number, reachable: boolean): void {
    if (!isObject(schemas)) return;
    for (const name of Object.keys(schemas)) {
      path.push(name);
      visit(schemas[name], depth, reachable);
      path.pop();
    }
  }

  /** @returns What is wrong with the mark, if anything is. */
  function take(schema: JsonObject, reachable: boolean): string | undefined {
    const header = schema[mark];
    const where = clip(path.join("."), 200);
    if (!reachable || path.length === 0) return `${mark} stands where no argument can be reached by name`;
    if (typeof header !== "string" || !fieldName.test(header)) return `${mark} of ${where} is no header name`;
    if (!markableTypes.has(schema["type"])) return `${mark} of ${where} is on a value of a type that it may not`;
    const same = headers.find((other) => other.header.toLowerCase() === header.toLowerCase());
    if (same) return `${mark} ${clip(header, 200)} is used twice`;
    headers.push({ header, path: [...path] });
    return undefined;
  }

  visit(inputSchema, 0, true);
  return reason === undefined ? { valid: true, headers } : { valid: false, reason };
}

/** The headers of a call with these arguments; what is absent or null has none. */
export function paramHeaderValues(headers: readonly ParamHeader[], args: unknown): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { header, path } of headers) {
    const value = path.reduce(
      (from: unknown, name) => (isObject(from) && Object.hasOwn(from, name) ? from[name] : undefined),
      args,
    );
    const safe = typeof value === "string" || typeof value === "boolean" || Number.isSafeInteger(value);
    if (safe) found[`mcp-param-${header.toLowerCase()}`] = headerValue(String(value));
  }
  return found;
}
