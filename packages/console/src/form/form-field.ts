/**
 * Makes form fields from a server's JSON Schema, for the terminal's forms and for the console's. The schema is untrusted.
 * Pure.
 */

import { allPropertiesOf, resolved, shapesOf } from "@fairlead/core/normalise";
import { isObject, listOf, member } from "@fairlead/wire/json";

/** One field of a form. Its texts come from the server and are not yet safe to print. */
export interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly isRequired: boolean;
  /** Whether the name or title suggests a secret, such as `password`. The form then shows a warning. */
  readonly isSecret: boolean;
  readonly default?: unknown;
  readonly input: FieldInput;
}

/** A `format` of JSON Schema that the form checks. */
export type TextFormat = "email" | "uri" | "date" | "date-time";

/** How the user enters a field's value, and the limits from the schema. */
export type FieldInput =
  | {
      readonly kind: "text";
      readonly format?: TextFormat;
      readonly minLength?: number;
      readonly maxLength?: number;
    }
  | { readonly kind: "number"; readonly isInteger: boolean; readonly minimum?: number; readonly maximum?: number }
  | { readonly kind: "switch" }
  | { readonly kind: "choice"; readonly choices: readonly Choice[] }
  | {
      readonly kind: "choices";
      readonly choices: readonly Choice[];
      readonly minItems?: number;
      readonly maxItems?: number;
    }
  /** Any other schema. The user types a value as after `key=` in a tool call. */
  | { readonly kind: "json"; readonly schema: unknown; readonly root: unknown };

/** A value that the user can choose, and the text that the form shows for it. */
export interface Choice {
  readonly value: unknown;
  readonly title: string;
}

/** Maximum number of fields of a form. Further properties of the schema are left out. */
export const mostFields = 200;
const mostChoices = 1000;

/** Returns the fields for the properties of a JSON Schema, at most `mostFields`. */
export function fieldsOf(root: unknown): readonly FormField[] {
  return allPropertiesOf(root)
    .slice(0, mostFields)
    .map(({ name, required, schema }) => {
      const here = resolved(schema, root);
      return { ...fieldTexts(name, here), isRequired: required, input: inputOf(here, root) };
    });
}

/** What a form shows of a field beside its input. */
export function fieldTexts(name: string, schema: unknown): Omit<FormField, "isRequired" | "input"> {
  const title = textOf(schema, "title");
  return {
    name,
    title: title ?? name,
    description: textOf(schema, "description"),
    isSecret: [name, title ?? ""].some(looksSecret),
    default: member(schema, "default"),
  };
}

/** Returns how a value of the schema is entered in one field. */
export function inputOf(schema: unknown, root: unknown): FieldInput {
  const choices = choicesOf(schema, root);
  if (choices !== undefined) return { kind: "choice", choices };
  const shapes = shapesOf(schema, root);
  const types = new Set(shapes.flatMap((shape) => [...shape.types]));
  // The user leaves the field empty instead of entering `null`.
  types.delete("null");
  const [type, ...others] = types;
  const list = type === "array" && others.length === 0 ? shapes[0] : undefined;
  const several = list && choicesOf(resolved(list.items, root), root);
  if (several !== undefined) return { kind: "choices", choices: several, ...bounds(schema, "minItems", "maxItems") };
  if (others.length > 0 || shapes.some(({ values }) => values)) return { kind: "json", schema, root };
  if (type === "string") {
    const format = formats.find((each) => each === member(schema, "format"));
    return { kind: "text", format, ...bounds(schema, "minLength", "maxLength") };
  }
  if (type === "number" || type === "integer")
    return { kind: "number", isInteger: type === "integer", ...bounds(schema, "minimum", "maximum") };
  return type === "boolean" ? { kind: "switch" } : { kind: "json", schema, root };
}

const formats: readonly TextFormat[] = ["email", "uri", "date", "date-time"];

/** Reads `enum` (with `enumNames`), or `oneOf` and `anyOf` whose schemas all have a `const`. */
function choicesOf(schema: unknown, root: unknown): readonly Choice[] | undefined {
  const values = listOf(member(schema, "enum"));
  const names = listOf(member(schema, "enumNames"));
  if (values.length > 0)
    return values.slice(0, mostChoices).map((value, at) => ({ value, title: titleOf(names[at], value) }));
  const alternatives = [...listOf(member(schema, "oneOf")), ...listOf(member(schema, "anyOf"))]
    .slice(0, mostChoices)
    .map((one) => resolved(one, root));
  if (alternatives.length === 0 || !alternatives.every((one) => isObject(one) && Object.hasOwn(one, "const")))
    return undefined;
  return alternatives.map((one) => {
    const value = member(one, "const");
    return { value, title: titleOf(member(one, "title"), value) };
  });
}

function titleOf(title: unknown, value: unknown): string {
  if (typeof title === "string" && title !== "") return title;
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function textOf(schema: unknown, keyword: string): string | undefined {
  const text = member(schema, keyword);
  return typeof text === "string" && text !== "" ? text : undefined;
}

type Bound = "minLength" | "maxLength" | "minimum" | "maximum" | "minItems" | "maxItems";

export function bounds<K extends Bound>(schema: unknown, ...keywords: readonly K[]): { readonly [Key in K]?: number } {
  const found = keywords.flatMap((keyword): [string, number][] => {
    const value = member(schema, keyword);
    return typeof value === "number" ? [[keyword, value]] : [];
  });
  return Object.fromEntries(found) as { [Key in K]?: number };
}

/** Matches a name in lower case, with `_` between its words. */
const secretWords =
  /pass(?:word|phrase|code|wd)|(?:^|_)(?:pass|pwd|pin|otp|ssn|cvv|cvc)(?:_|$)|secret|token(?!s|iz)|(?:api|access|private)_?key|credential|card_?number|social_security|mnemonic|seed_?phrase/;

function looksSecret(name: string): boolean {
  const words = name.replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1_$2").replaceAll(/[^\p{L}\p{N}]+/gu, "_");
  return secretWords.test(words.toLowerCase());
}
