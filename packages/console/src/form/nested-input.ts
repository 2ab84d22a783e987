/**
 * Reads a JSON Schema as a form with parts inside parts: objects, lists, tuples, free keys and alternatives. What has no
 * form of its own, and what lies too deep, is entered as JSON. The schema is untrusted. Pure.
 */

import { resolved, shapesOf } from "@fairlead/core/normalise";
import type { JsonObject } from "@fairlead/wire";
import { isObject, listOf, member } from "@fairlead/wire/json";
import { bounds, type FieldInput, type FormField, fieldTexts, inputOf, mostFields, textOf } from "./form-field.ts";

/** How the user enters a value of any schema. */
export type NestedInput =
  | FieldInput
  /** The only value that the schema allows. */
  | { readonly kind: "constant"; readonly value: unknown }
  | { readonly kind: "object"; readonly fields: readonly NestedField[]; readonly others?: NestedInput }
  | {
      readonly kind: "list";
      readonly item: NestedInput;
      readonly minItems?: number;
      readonly maxItems?: number;
    }
  /** A list whose first items each have a schema of their own. `rest`: further items. */
  | { readonly kind: "tuple"; readonly items: readonly NestedInput[]; readonly rest?: NestedInput }
  | { readonly kind: "variant"; readonly alternatives: readonly Alternative[] };

/** A field of an object. */
export interface NestedField extends Omit<FormField, "input"> {
  readonly input: NestedInput;
}

/** One of several schemas that a value may match. */
export interface Alternative {
  readonly title: string;
  readonly input: NestedInput;
}

const deepest = 8;
const mostAlternatives = 30;
/** A schema that refers to itself could have billions of alternatives and items of lists. */
const mostParts = 1000;

/** Returns the form of a tool's arguments. A schema that is no object is entered as JSON. */
export function nestedInputOf(root: unknown): NestedInput {
  return new SchemaReader(root).inputOf(isObject(root) && !("type" in root) ? { ...root, type: "object" } : root, 0);
}

class SchemaReader {
  readonly #root: unknown;
  /** Objects and lists may repeat the same schemas: the fields of the whole form are limited. */
  #fields = 0;
  /** Alternatives and items of lists. */
  #parts = 0;

  constructor(root: unknown) {
    this.#root = root;
  }

  inputOf(given: unknown, depth: number): NestedInput {
    const schema = withAllOf(resolved(given, this.#root), this.#root);
    const plain = inputOf(schema, this.#root);
    if (plain.kind === "choice" && plain.choices.length === 1)
      return { kind: "constant", value: plain.choices[0]?.value };
    if (isObject(schema) && Object.hasOwn(schema, "const")) return { kind: "constant", value: schema["const"] };
    if (plain.kind !== "json" || depth >= deepest || this.#fields >= mostFields) return plain;
    const alternatives = alternativesOf(schema, this.#root);
    if (alternatives.length === 1) return this.inputOf(alternatives[0], depth + 1);
    if (alternatives.length > 1) return this.#variantOf(alternatives, depth) ?? plain;
    return this.#compositeOf(schema, depth) ?? plain;
  }

  /** Several types (`["string", "number"]`) are alternatives too. */
  #compositeOf(schema: unknown, depth: number): NestedInput | undefined {
    const types = typesOf(schema, this.#root);
    const [type, ...others] = types;
    if (others.length > 0 && isObject(schema))
      return this.#variantOf(
        types.map((one) => ({ ...schema, type: one, title: one })),
        depth,
      );
    if (type === "array") return this.#listOf(schema, depth);
    if (type === "object" || isObject(member(schema, "properties"))) return this.#objectOf(schema, depth);
    return undefined;
  }

  #variantOf(alternatives: readonly unknown[], depth: number): NestedInput | undefined {
    if (!this.#reserve(alternatives.length)) return undefined;
    return {
      kind: "variant",
      alternatives: alternatives.map((schema, at) => ({
        title: titleOf(schema, this.#root) ?? `Option ${at + 1}`,
        input: this.inputOf(schema, depth + 1),
      })),
    };
  }

  #listOf(schema: unknown, depth: number): NestedInput | undefined {
    const items = member(schema, "items");
    const first = [member(schema, "prefixItems"), items].find(Array.isArray) as readonly unknown[] | undefined;
    const others = first === items ? member(schema, "additionalItems") : items;
    const rest = isObject(others) && this.#reserve(1) ? this.inputOf(others, depth + 1) : undefined;
    if (first !== undefined) {
      const items = first.slice(0, mostFields);
      if (!this.#reserve(items.length)) return undefined;
      return { kind: "tuple", items: items.map((one) => this.inputOf(one, depth + 1)), rest };
    }
    return rest && { kind: "list", item: rest, ...bounds(schema, "minItems", "maxItems") };
  }

  #objectOf(schema: unknown, depth: number): NestedInput | undefined {
    const required = new Set(listOf(member(schema, "required")));
    const properties = member(schema, "properties");
    const entries = Object.entries(isObject(properties) ? properties : {}).slice(0, mostFields - this.#fields);
    this.#fields += entries.length;
    const fields = entries.map(([name, given]) => {
      const here = resolved(given, this.#root);
      return { ...fieldTexts(name, here), isRequired: required.has(name), input: this.inputOf(here, depth + 1) };
    });
    const others = member(schema, "additionalProperties");
    // Without `additionalProperties`, further keys are allowed, but no form asks for them.
    const further = isObject(others) ? this.inputOf(others, depth + 1) : undefined;
    if (fields.length === 0 && further === undefined && depth > 0) return undefined;
    const ordered = [
      ...fields.filter(({ isRequired }) => isRequired),
      ...fields.filter(({ isRequired }) => !isRequired),
    ];
    return { kind: "object", fields: ordered, others: further };
  }

  /** Whether the form may have so many more parts. Otherwise the value is entered as JSON. */
  #reserve(count: number): boolean {
    if (this.#parts + count > mostParts) return false;
    this.#parts += count;
    return true;
  }
}

/** The schema with the members of the schemas in `allOf`: all of them hold. */
function withAllOf(schema: unknown, root: unknown): unknown {
  if (!isObject(schema)) return schema;
  const parts = listOf(schema["allOf"]).slice(0, mostAlternatives);
  if (parts.length === 0) return schema;
  const { allOf: _, ...own } = schema;
  return parts.reduce<JsonObject>((joined, part) => joinSchemas(joined, resolved(part, root)), own);
}

function joinSchemas(one: JsonObject, other: unknown): JsonObject {
  if (!isObject(other)) return one;
  const { properties = {}, required, ...members } = other;
  const own = one["properties"];
  return {
    ...members,
    ...one,
    properties: { ...(isObject(properties) ? properties : {}), ...(isObject(own) ? own : {}) },
    required: [...listOf(one["required"]), ...listOf(required)],
  };
}

/** The schemas of `oneOf` or `anyOf`, each with what holds for all of them. `null` is an empty field instead. */
function alternativesOf(schema: unknown, root: unknown): readonly unknown[] {
  if (!isObject(schema)) return [];
  const { oneOf, anyOf, ...common } = schema;
  const given = [...listOf(oneOf), ...listOf(anyOf)].slice(0, mostAlternatives);
  return given.flatMap((one) => {
    const here = resolved(one, root);
    if (!isObject(here) || member(here, "type") === "null") return [];
    return [joinSchemas(here, common)];
  });
}

function typesOf(schema: unknown, root: unknown): readonly string[] {
  const types = new Set(shapesOf(schema, root).flatMap((shape) => [...shape.types]));
  types.delete("null");
  return [...types];
}

/** A title, or the constant members by which a schema differs from the others, or its type. */
function titleOf(given: unknown, root: unknown): string | undefined {
  const schema = resolved(given, root);
  const title = textOf(schema, "title");
  if (title !== undefined) return title;
  const properties = member(schema, "properties");
  for (const [name, one] of Object.entries(isObject(properties) ? properties : {})) {
    const only = member(resolved(one, root), "const");
    if (typeof only === "string") return `${name}: ${only}`;
  }
  const required = listOf(member(schema, "required")).filter((name) => typeof name === "string");
  if (required.length > 0) return required.join(", ");
  return textOf(schema, "type");
}
