/** Reads `enum`, `const` and `type`. */

import { toModelText } from "../../../text/model-text.ts";
import { enumerate, isFilled, isList, isNumber, isPresent, isText, quote } from "../json-values.ts";
import { addNote, drop, type Keyword, keyword, report, type SchemaNode, tell } from "../schema-node.ts";
import { common } from "./merge.ts";
import type { Shape, TypeName } from "./shape.ts";

/** The functions that read `enum` and `const`, by keyword. */
export const values: Readonly<Record<string, Keyword>> = {
  enum: keyword(isFilled, (value, node, name) => restrict(node, name, value)),
  const: keyword(isPresent, (value, node, name) => restrict(node, name, [value])),
};

/**
 * Reads `enum`. The API accepts only strings and numbers in it (Gemini API types, `responseJsonSchema`), so other
 * values become a type or a sentence in the description.
 */
function restrict(node: SchemaNode, name: string, allowed: readonly unknown[]): void {
  if (node.isRoot) {
    tell(node, name, `Must be ${choiceOf(allowed)}.`);
    return;
  }
  const { shape } = node;
  const before = { types: shape.types, notes: shape.notes };
  const fitting = fittingOf(allowed, shape.types);
  shape.types = typesOf(fitting, shape.types?.has("number") === true);

  const strings = fitting.filter(isText);
  // The API rejects an empty string: "enum[0]: cannot be empty".
  const filled = [...new Set(strings.filter((text) => text !== ""))];
  // Leaves out values with invisible characters, because a model could not send them back unchanged.
  const shown = filled.filter((text) => toModelText(text) === text);
  if (shown.length > 0) shape.strings = both(shape.strings, shown);
  else if (filled.length > 0) addNote(shape, "The values contain characters that cannot be shown.");
  if (filled.length < new Set(strings).size) {
    addNote(shape, filled.length === 0 ? "Must be an empty string." : "May also be an empty string.");
  }
  const numbers = [...new Set(fitting.filter(isNumber))];
  if (numbers.length > 0) shape.numbers = both(shape.numbers, numbers);
  const flags = new Set(fitting.filter((value) => typeof value === "boolean"));
  const onlyFlags = fitting.every((value) => typeof value === "boolean");
  if (flags.size === 1) addNote(shape, `${onlyFlags ? "Must be" : "A boolean must be"} ${[...flags].join()}.`);
  const composed = fitting.filter((value) => typeof value === "object" && value !== null);
  if (composed.length > 0) {
    const only = composed.length === fitting.length;
    addNote(shape, `${only ? "Must be" : "May also be"} ${choiceOf(composed)}.`);
  }
  if (name === "const" && "enum" in node.raw)
    report(node, "enum", "rewritten", "The const of the same schema is stricter.");
  reportChange(node, name, allowed, before);
}

/** Maximum number of values that a sentence lists. */
const mostListed = 5;

/** Writes allowed values for a sentence: "1, 2 or 3". Says so if there are more values than it lists. */
function choiceOf(allowed: readonly unknown[]): string {
  const listed = allowed.slice(0, mostListed).map(quote);
  return enumerate(allowed.length > mostListed ? [...listed, "another allowed value"] : listed, "or");
}

interface Before {
  readonly types: Shape["types"] | undefined;
  readonly notes: Shape["notes"];
}

function reportChange(node: SchemaNode, name: string, allowed: readonly unknown[], before: Before): void {
  const { shape } = node;
  const kept: readonly unknown[] = [...(shape.strings ?? []), ...(shape.numbers ?? [])];
  const told = shape.notes.slice(before.notes.length).join(" ");
  const isMixed = shape.strings !== undefined && shape.numbers !== undefined;
  const isSame = kept.length === allowed.length && kept.every((value, at) => value === allowed[at]);
  if (name === "const" || isMixed || !isSame) {
    const isHidden = allowed.some((value) => isText(value) && toModelText(value) !== value);
    const said = isHidden
      ? "A value with invisible characters is not offered."
      : name === "const"
        ? "The value is written as an enum with one value."
        : "The API's enum takes non-empty strings or numbers.";
    const note = kept.length > 0 ? said : "The type of the schema already says this.";
    report(node, name, told === "" ? "rewritten" : "moved", told === "" ? note : `The description says: ${told}`);
  }
  const types = shape.types ?? new Set<TypeName>();
  if (
    before.types !== undefined &&
    (types.size !== before.types.size || [...types].some((type) => !before.types?.has(type)))
  ) {
    report(node, "type", "rewritten", "The type follows from the allowed values.");
  }
}

/**
 * The values that have one of the declared types. If there are none, the type must be wrong, as in `{"type": "string",
 * "enum": [1, 2]}`. All values are then returned.
 */
function fittingOf(allowed: readonly unknown[], types: Shape["types"]): readonly unknown[] {
  if (types === undefined) return allowed;
  const fitting = allowed.filter((value) => {
    const type = plainTypeOf(value);
    return types.has(type) || (type === "integer" && types.has("number"));
  });
  return fitting.length > 0 ? fitting : allowed;
}

/**
 * The types of the values. Whole numbers count as numbers if the type "number" is declared, or if the values include a
 * fraction.
 */
function typesOf(allowed: readonly unknown[], isNumber: boolean): ReadonlySet<TypeName> {
  const types = new Set(allowed.map(plainTypeOf));
  if (!types.has("integer") || (!isNumber && !types.has("number"))) return types;
  return new Set([...types].map((type) => (type === "integer" ? "number" : type)));
}

function plainTypeOf(value: unknown): TypeName {
  if (isText(value)) return "string";
  if (typeof value === "boolean") return "boolean";
  if (isNumber(value)) return Number.isInteger(value) ? "integer" : "number";
  if (isList(value)) return "array";
  return value === null || value === undefined ? "null" : "object";
}

/** The values that both enums contain. If the enums have no common value, returns the values of `later`. */
function both<T>(earlier: readonly T[] | undefined, later: readonly T[]): readonly T[] {
  const found = common(later, earlier);
  return found === undefined || found.length === 0 ? later : found;
}

/**
 * The accepted spellings of type names: JSON Schema's lower case, OpenAPI's upper case (as Gemini's SDKs write it), and
 * common mistakes.
 */
const typeSpellings: ReadonlyMap<string, TypeName | "any"> = new Map<string, TypeName | "any">([
  ["string", "string"],
  ["number", "number"],
  ["integer", "integer"],
  ["boolean", "boolean"],
  ["object", "object"],
  ["array", "array"],
  ["null", "null"],
  ["str", "string"],
  ["text", "string"],
  ["int", "integer"],
  ["long", "integer"],
  ["float", "number"],
  ["double", "number"],
  ["bool", "boolean"],
  ["dict", "object"],
  ["list", "array"],
  ["any", "any"],
]);

function isTypes(value: unknown): value is string | readonly unknown[] {
  return isText(value) || isList(value);
}

/** The function that reads `type`, by keyword. */
export const types: Readonly<Record<string, Keyword>> = {
  type: keyword(isTypes, readType),
};

/**
 * Returns the types that a value of the keyword `type` names, in JSON Schema's spelling: `int` becomes `integer`. The
 * result is empty if the value contains `any`, or no name of a type.
 */
export function typesIn(value: unknown): readonly TypeName[] {
  const usual = isText(value) ? typeSpellings.get(value) : undefined;
  if (usual !== undefined && usual !== "any") return [usual];
  const written: readonly unknown[] = isList(value) ? value : [value];
  const understood = written.flatMap((type) => (isText(type) ? (typeSpellings.get(type.toLowerCase()) ?? []) : []));
  const found = understood.filter((type) => type !== "any");
  return found.length < understood.length ? [] : [...new Set(found)];
}

function readType(value: string | readonly unknown[], node: SchemaNode, name: string): void {
  // A tool's arguments are always an object: see `parametersJsonSchema` in the Gemini API's types.
  if (node.isRoot) {
    node.shape.types = new Set<TypeName>(["object"]);
    if (value !== "object") report(node, name, "rewritten", "Arguments are an object.");
    return;
  }
  const found = typesIn(value);
  const types = found.includes("number") ? found.filter((type) => type !== "integer") : found;
  if (types.length === 0) {
    drop(node, name, "The type restricts nothing: it names no JSON Schema type, or all of them.");
    return;
  }
  node.shape.types = new Set(types);
  if (value === types[0]) return;
  /*
   * The API accepts one type in a schema. It rejects a list: "Proto field is not repeating, cannot start list" (zed
   * #44875).
   */
  const note = types.length > 1 ? "Each type becomes one alternative." : "The type is now written as in JSON Schema.";
  report(node, name, "rewritten", note);
}
