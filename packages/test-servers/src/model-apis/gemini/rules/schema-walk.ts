/** Finds every schema inside a schema, with its path in the three notations of the API's messages. */

import type { Schema } from "../request.ts";

export interface Spot {
  readonly schema: Schema;
  readonly steps: readonly Step[];
}

interface Step {
  readonly keyword: string;
  /** The name of a property or a definition. */
  readonly name?: string;
  readonly index?: number;
}

const lists = ["anyOf", "oneOf", "allOf", "prefixItems"];
const maps = ["properties", "$defs"];
const singles = ["items", "additionalProperties"];

export function spotsIn(root: Schema): Spot[] {
  const spots: Spot[] = [{ schema: root, steps: [] }];
  // The list grows during the loop.
  for (const spot of spots) spots.push(...below(spot));
  return spots;
}

export function below({ schema, steps }: Spot): Spot[] {
  const at = (value: unknown, step: Step): Spot[] =>
    isSchema(value) ? [{ schema: value, steps: [...steps, step] }] : [];
  return [
    ...maps.flatMap((keyword) =>
      Object.entries(isSchema(schema[keyword]) ? schema[keyword] : {}).flatMap(([name, value], index) =>
        at(value, { keyword, name, index }),
      ),
    ),
    ...lists.flatMap((keyword) => listAt(schema, keyword).flatMap((value, index) => at(value, { keyword, index }))),
    ...singles.flatMap((keyword) => at(schema[keyword], { keyword })),
  ];
}

/** The path in the notation of a message's fields, by position: `.properties[3].value.any_of[0]`. */
export function fieldPath({ steps }: Spot): string {
  return steps
    .map(({ keyword, name, index }) => `.${snake(keyword)}${bracketed(index)}${name === undefined ? "" : ".value"}`)
    .join("");
}

/** The path with properties by name: `.properties[width].any_of[0]`. */
export function namedPath({ steps }: Spot): string {
  return steps.map(({ keyword, name, index }) => `.${snake(keyword)}${bracketed(name ?? index)}`).join("");
}

function snake(keyword: string): string {
  return keyword.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function bracketed(inside: string | number | undefined): string {
  return inside === undefined ? "" : `[${inside}]`;
}

/** The path as in JSON: `properties.width.anyOf.0`. */
export function dottedPath({ steps }: Spot): string {
  return steps.map(({ keyword, name, index }) => [keyword, name ?? index ?? []].flat().join(".")).join(".");
}

export function listAt(schema: Schema, keyword: string): readonly unknown[] {
  const value = schema[keyword];
  return Array.isArray(value) ? value : [];
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the first type in capital letters, as in the OpenAPI form. */
export function typeOf(schema: Schema): string {
  const { type } = schema as { readonly type?: unknown };
  const first: unknown = Array.isArray(type) ? type[0] : type;
  return typeof first === "string" ? first.toUpperCase() : "";
}
