/**
 * Finds the tool arguments that a client must also send as HTTP headers. The input schema marks them with
 * `x-mcp-header`.
 */

import { headerValue } from "../eras/modern-envelope.ts";
import type { JsonObject } from "../session.ts";
import { isObject } from "../shapes/json.ts";
import { clip } from "../shapes/text.ts";

/** One header, and the argument whose value it contains. */
export interface ParamHeader {
  readonly header: string;
  /** The property names that lead to the argument. */
  readonly path: readonly string[];
}

/** The headers of a tool, or the mistake in its `x-mcp-header` keywords. */
export type ParamHeaders =
  | { readonly valid: true; readonly headers: readonly ParamHeader[] }
  /** The mistake in the schema. The protocol forbids listing a tool with such a mistake. */
  | { readonly valid: false; readonly reason: string };

const keyword = "x-mcp-header";
const fieldName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const headerTypes: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);

/** Keywords such as `items`, whose subschemas cannot be reached by a fixed path of property names. */
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

/** Limits on the depth and the number of subschemas that are searched. */
const deepest = 64;
const largest = 100_000;

/** The headers found for each schema. They are kept, because they are needed for every call. */
const found = new WeakMap<object, ParamHeaders>();
const noHeaders: ParamHeaders = { valid: true, headers: [] };

/** Finds the headers that an input schema requires. The schema must not change afterwards. */
export function paramHeadersOf(inputSchema: unknown): ParamHeaders {
  if (typeof inputSchema !== "object" || inputSchema === null) return noHeaders;
  const known = found.get(inputSchema);
  if (known !== undefined) return known;
  const headers = mayHaveKeyword(inputSchema) ? search(inputSchema) : noHeaders;
  found.set(inputSchema, headers);
  return headers;
}

/**
 * Whether the schema may contain `x-mcp-header`. Almost no schema does, and this check is faster than a full search.
 */
function mayHaveKeyword(schema: unknown): boolean {
  try {
    return String(JSON.stringify(schema)).includes(keyword);
  } catch {
    // `JSON.stringify` throws if the schema is nested too deeply. Such a schema may contain the keyword.
    return true;
  }
}

function search(inputSchema: unknown): ParamHeaders {
  const headers: ParamHeader[] = [];
  const path: string[] = [];
  let visited = 0;
  let reason: string | undefined;

  /**
   * Searches a part of the schema.
   * @param reachable Whether a fixed path of property names leads to this part.
   */
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

  /**
   * Checks one `x-mcp-header` keyword.
   * @returns The mistake in the keyword. Undefined if the keyword is valid.
   */
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

/** Returns the headers of a call with these arguments. An argument that is absent or null has no header. */
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
