/**
 * Finds the tool arguments that a client must also send as HTTP headers. The input schema marks them with
 * `x-mcp-header`.
 */

import { headerValue } from "../eras/protocol.ts";
import type { JsonObject } from "../session.ts";
import { isObject } from "../shapes/json.ts";
import { clip } from "../shapes/text.ts";

/** A header, and the argument whose value it carries. */
export interface ParamHeader {
  readonly header: string;
  /** The property names from the top of the arguments down to this argument. */
  readonly path: readonly string[];
}

/** The headers that a tool's input schema asks for, or why the schema is invalid. */
export type ParamHeaders =
  | { readonly valid: true; readonly headers: readonly ParamHeader[] }
  /** `reason` describes the mistake. The protocol says that a client must leave such a tool out of its list. */
  | { readonly valid: false; readonly reason: string };

const keyword = "x-mcp-header";
const fieldName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const headerTypes: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);

/**
 * Keywords whose subschemas do not describe one fixed argument (for example `items`). A header is not allowed there.
 */
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

const deepest = 64;
const largest = 100_000;

/** The search is slow and every tool call needs its result, so the result is cached. */
const found = new WeakMap<object, ParamHeaders>();
const noHeaders: ParamHeaders = { valid: true, headers: [] };

/** Returns the headers that an input schema asks for. The result is cached, so the schema must not change. */
export function paramHeadersOf(inputSchema: unknown): ParamHeaders {
  if (typeof inputSchema !== "object" || inputSchema === null) return noHeaders;
  const cached = found.get(inputSchema);
  if (cached !== undefined) return cached;
  const headers = mayHaveKeyword(inputSchema) ? search(inputSchema) : noHeaders;
  found.set(inputSchema, headers);
  return headers;
}

/** Almost no schema contains the keyword, and this check is faster than a full search. */
function mayHaveKeyword(schema: unknown): boolean {
  try {
    return String(JSON.stringify(schema)).includes(keyword);
  } catch {
    // `JSON.stringify` throws if the schema is nested too deeply. The full search then decides.
    return true;
  }
}

function search(inputSchema: unknown): ParamHeaders {
  const headers: ParamHeader[] = [];
  const path: string[] = [];
  let visited = 0;
  let reason: string | undefined;

  /** @param reachable Whether only `properties` lead to this part, so that it describes one fixed argument. */
  function visit(schema: unknown, depth: number, reachable: boolean): void {
    if (reason !== undefined || !isObject(schema)) return;
    visited += 1;
    if (depth > deepest || visited > largest) reason = "the schema is too deep or too large to search";
    else for (const key of Object.keys(schema)) visitMember(schema, key, depth + 1, reachable);
  }

  function visitMember(schema: JsonObject, key: string, depth: number, reachable: boolean): void {
    const value = schema[key];
    if (key === keyword) reason ??= take(schema, reachable);
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

  /** @returns The mistake in one `x-mcp-header` keyword, or undefined if the keyword is valid. */
  function take(schema: JsonObject, reachable: boolean): string | undefined {
    const header = schema[keyword];
    const where = clip(path.join("."), 200);
    if (!reachable || path.length === 0) return `${keyword} is in a subschema that no path of property names leads to`;
    if (typeof header !== "string" || !fieldName.test(header))
      return `${keyword} of ${where} is not a valid header name`;
    if (!headerTypes.has(schema["type"])) return `${keyword} of ${where} needs the type string, integer or boolean`;
    const same = headers.find((other) => other.header.toLowerCase() === header.toLowerCase());
    if (same) return `${keyword} ${clip(header, 200)} is used twice`;
    headers.push({ header, path: [...path] });
    return undefined;
  }

  visit(inputSchema, 0, true);
  return reason === undefined ? { valid: true, headers } : { valid: false, reason };
}

/** Returns the HTTP headers for a tool call. An argument that is absent or null gets no header. */
export function paramHeaderValues(headers: readonly ParamHeader[], args: unknown): Record<string, string> {
  const values: Record<string, string> = {};
  for (const { header, path } of headers) {
    const value = path.reduce(
      (from: unknown, name) => (isObject(from) && Object.hasOwn(from, name) ? from[name] : undefined),
      args,
    );
    const safe = typeof value === "string" || typeof value === "boolean" || Number.isSafeInteger(value);
    if (safe) values[`mcp-param-${header.toLowerCase()}`] = headerValue(String(value));
  }
  return values;
}
