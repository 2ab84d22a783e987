/** Converts one schema to a `Shape`. Every keyword is kept or reported. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { toModelText } from "../../../text/model-text.ts";
import { baseOf, type Spot } from "../document.ts";
import { enumerate, isCount, isFlag, isList, isNumber, isPresent, isSchema, isText, quote } from "../json-values.ts";
import { lastStep, pointerTo } from "../pointer.ts";
import {
  addNote,
  described,
  drop,
  hint,
  type Keyword,
  keyword,
  type Reading,
  report,
  type SchemaNode,
  tell,
} from "../schema-node.ts";
import { inManyWords } from "../write/type-text.ts";
import { schemaLimits, spendBytes, spendSubschema, tooLarge } from "./bounds.ts";
import { meet } from "./merge.ts";
import { combinations } from "./read-combinations.ts";
import { arrays, objects } from "./read-containers.ts";
import { types, values } from "./read-values.ts";
import { emptyShape, type Shape, type TypeName } from "./shape.ts";

/** Reads one schema into a `Shape`. `nesting` counts the schemas around it. @throws HostError `quarantined` */
export function readSchema(spot: Spot, nesting: number, isRoot: boolean, reading: Reading): Shape {
  const { raw, path } = spot;
  spendSubschema(reading.spent);
  if (nesting > schemaLimits.nesting)
    throw tooLarge(`follows more than ${schemaLimits.nesting} references and alternatives`);
  const shape = emptyShape(path);
  if (raw === true) return shape;
  if (!isObject(raw)) {
    const why =
      raw === false
        ? "The description says that no value is accepted."
        : `${quote(raw)} is not a schema: any value is accepted.`;
    reading.report(...lastStep(path), "rewritten", why);
    return raw === false ? { ...shape, notes: ["Must not be given."] } : shape;
  }
  const node: SchemaNode = { raw, path, base: baseOf(raw, spot.base), shape, reading, nesting, isRoot };
  reading.active.add(path);
  reading.visited.add(path);
  for (const name of inOrder(raw)) readKeyword(name, raw[name], node);
  reading.active.delete(path);
  return node.shape;
}

function inOrder(raw: object): readonly string[] {
  const rankOf = (name: string): number => keywords.get(name)?.rank ?? Number.POSITIVE_INFINITY;
  const names = Object.keys(raw);
  return names.length < 2 ? names : names.sort((a, b) => rankOf(a) - rankOf(b) || 0);
}

function readKeyword(name: string, value: unknown, node: SchemaNode): void {
  const definition = keywords.get(name);
  if (definition === undefined) drop(node, name, `${node.reading.dialect.name} does not know the keyword.`);
  else if (definition.fits?.(value) === false) drop(node, name, `${quote(value)} is not a valid value.`);
  else definition.read(value as never, node, name);
}

const unneeded = (why: string): Keyword => keyword(isPresent, (_, node, name) => drop(node, name, why));
const forPeople = unneeded("A model does not need this keyword.");
const identifies = unneeded("References are replaced by their targets, so this keyword is not needed.");

function visible(text: string, node: SchemaNode, name: string): string {
  const seen = toModelText(text);
  if (seen !== text) report(node, name, "rewritten", "Invisible characters are removed.");
  return seen;
}

const flagSentence = (sentence: string): Keyword =>
  keyword(isFlag, (value, node, name) => {
    if (value) tell(node, name, sentence);
    else drop(node, name, "The keyword has its default value.");
  });

/** The functions that read these keywords, by keyword. */
const annotations: Readonly<Record<string, Keyword>> = {
  // The Gemini API types list `title` and `description` among the keywords of `responseJsonSchema`.
  title: keyword(isText, (value, node, name) => {
    const seen = visible(value, node, name);
    if (seen !== "" || value === "") node.shape.title = seen;
  }),
  description: keyword(isText, (value, node, name) => {
    node.shape.description = visible(value, node, name);
  }),
  /**
   * Gemini's `responseJsonSchema` does not support `default`, and Vertex AI rejects it next to `anyOf` (Gemini CLI's
   * docs, "schema processing").
   */
  default: keyword(isPresent, (value, node, name) => {
    if (value === null) drop(node, name, "The default null says the same as no default.");
    else tell(node, name, `Default: ${quote(value)}.`);
  }),
  examples: keyword(isList, (value, node, name) => {
    if (value.length === 0) drop(node, name, "The keyword is empty.");
    else tell(node, name, `For example ${enumerate(value.slice(0, 3).map(quote))}.`);
  }),
  // `example` of OpenAPI 3.0 is allowed in `parameters`, but not in `parametersJsonSchema`.
  example: keyword(isPresent, (value, node, name) => tell(node, name, `For example ${quote(value)}.`)),
  deprecated: flagSentence("Deprecated."),
  readOnly: flagSentence("Set by the server only."),
  writeOnly: flagSentence("The value is never shown after it is set."),
  // `nullable` of OpenAPI 3.0 becomes an alternative with the type null.
  nullable: keyword(isFlag, (value, node, name) => {
    if (value) node.shape.isNullable = true;
    report(
      node,
      name,
      value ? "rewritten" : "removed",
      value ? "The type null replaces nullable." : "The keyword has its default value.",
    );
  }),
  /*
   * `$schema` is removed at every depth, as Gemini CLI's documentation requires ("schema processing"). Users often
   * report the API's error: `Unknown name "$schema"`.
   */
  $schema: unneeded("The API accepts only one schema dialect."),
  $comment: forPeople,
  $vocabulary: forPeople,
  discriminator: unneeded("The alternatives already contain this information."),
  externalDocs: forPeople,
  xml: forPeople,
  $id: identifies,
  id: identifies,
  $anchor: identifies,
  $dynamicAnchor: identifies,
  $recursiveAnchor: identifies,
  // The Gemini API supports `propertyOrdering`, but the order of `properties` gives the same information.
  propertyOrdering: unneeded("The order of the properties already gives this information."),
};

/**
 * The API restricts references (Gemini API types, `responseJsonSchema`). If it rejects one, every prompt fails
 * (gemini-cli #7567).
 */
const reference: Keyword = keyword(isText, readReference);

/** The functions that read these keywords, by keyword. */
const references: Readonly<Record<string, Keyword>> = {
  $defs: keyword(isObject, readDefinitions),
  definitions: keyword(isObject, readDefinitions),
  $ref: reference,
  $dynamicRef: reference,
  $recursiveRef: reference,
};

function readDefinitions(value: JsonObject, node: SchemaNode, name: string): void {
  node.reading.containers.set(pointerTo(node.path, name), {
    path: node.path,
    name,
    definitions: Object.keys(value),
  });
}

/** Reports what happened to `$defs`: its definitions replaced the references to them, or nothing refers to them. */
export function reportDefinitions({ containers, visited, report }: Reading): void {
  for (const [pointer, { path, name, definitions }] of containers) {
    const unused = definitions.filter((definition) => !visited.has(pointerTo(pointer, definition)));
    const isUsed = unused.length < definitions.length;
    report(
      path,
      name,
      isUsed ? "rewritten" : "removed",
      isUsed ? "References are replaced by their targets." : "Nothing refers to this definition.",
    );
    if (isUsed)
      for (const definition of unused) report(pointer, definition, "removed", "Nothing refers to this definition.");
  }
}

function readReference(value: string, node: SchemaNode, name: string): void {
  const target = node.reading.document.resolve(value, node.base);
  if (target === undefined) {
    /** Nothing is fetched, because a server must not make Fairlead send requests to an address of its choice. */
    drop(node, name, `The reference leads to ${quote(value)}, which is not part of this schema and is not fetched.`);
    return;
  }
  const isCycle = node.reading.active.has(target.path);
  if (!isCycle) spendBytes(node.reading.spent, Buffer.byteLength(JSON.stringify(target.raw)));
  const shape = isCycle ? cut(target, node) : node.reading.read(target, node.nesting + 1, node.isRoot);
  const isAlone = Object.keys(node.raw).length === 1;
  const note = isCycle
    ? "The reference is part of a cycle; a note in the description replaces it."
    : "The target replaces the reference.";
  report(node, name, isAlone ? "rewritten" : "merged", note);
  node.shape = isAlone ? shape : meet(node.shape, shape, node.reading);
}

/** Ends a cycle of references: a note in words replaces the reference. */
function cut(target: Spot, node: SchemaNode): Shape {
  const shape = emptyShape(node.path);
  const type: unknown = isObject(target.raw)
    ? (target.raw["type"] ?? ("properties" in target.raw ? "object" : undefined))
    : undefined;
  if (type === "object" || type === "array") shape.types = new Set([type]);
  const { cycles } = node.reading;
  const form = cycles.get(target.path) ?? described(node, target.raw);
  cycles.set(target.path, form);
  addNote(shape, `A value of this form again: ${form}.`);
  return shape;
}

/** Whether the value is valid for `exclusiveMinimum`: a number, or in draft 4 a boolean next to `minimum`. */
function isBound(value: unknown): value is number | boolean {
  return isNumber(value) || isFlag(value);
}

/** The functions that read the keywords of numbers, by keyword. */
const numbers: Readonly<Record<string, Keyword>> = {
  minimum: keyword(isNumber, (value, node) => {
    hint(node, "number");
    node.shape.minimum = value;
  }),
  maximum: keyword(isNumber, (value, node) => {
    hint(node, "number");
    node.shape.maximum = value;
  }),
  exclusiveMinimum: keyword(isBound, (value, node, name) => {
    exclude(node, name, value === true ? node.raw["minimum"] : value, {
      limit: "minimum",
      step: 1,
      words: "Greater than",
    });
  }),
  exclusiveMaximum: keyword(isBound, (value, node, name) => {
    exclude(node, name, value === true ? node.raw["maximum"] : value, {
      limit: "maximum",
      step: -1,
      words: "Less than",
    });
  }),
  multipleOf: keyword(isNumber, (value, node, name) => {
    hint(node, "number");
    tell(node, name, `A multiple of ${value}.`);
  }),
};

interface Side {
  readonly limit: "minimum" | "maximum";
  readonly step: 1 | -1;
  readonly words: string;
}

function exclude(node: SchemaNode, name: string, bound: unknown, { limit, step, words }: Side): void {
  if (!isNumber(bound)) {
    drop(node, name, "The keyword has no effect: it contains no limit.");
    return;
  }
  hint(node, "number");
  const { shape } = node;
  const isWhole = shape.types?.has("integer") === true;
  const nearest = isWhole ? (step === 1 ? Math.floor(bound) + 1 : Math.ceil(bound) - 1) : bound;
  const stricter = step === 1 ? Math.max : Math.min;
  const given = shape[limit];
  shape[limit] = given === undefined ? nearest : stricter(given, nearest);
  if (given !== undefined && shape[limit] !== given) report(node, limit, "rewritten", `${name} is stricter.`);
  if (isWhole) report(node, name, "rewritten", `For an integer, this is the same as "${limit}": ${nearest}.`);
  else tell(node, name, `${words} ${bound}.`);
}

/** OpenAPI's number formats, with the JSON Schema type of each. */
const numeric: Readonly<Record<string, TypeName>> = {
  int32: "integer",
  int64: "integer",
  float: "number",
  double: "number",
};

/** The functions that read the keywords of strings, by keyword. */
const strings: Readonly<Record<string, Keyword>> = {
  format: keyword(isText, readFormat),
  minLength: keyword(isCount, (value, node, name) => {
    hint(node, "string");
    if (value === 0) drop(node, name, "The keyword has its default value.");
    else tell(node, name, `At least ${value} character${value === 1 ? "" : "s"}.`);
  }),
  maxLength: keyword(isCount, (value, node, name) => {
    hint(node, "string");
    tell(node, name, `At most ${value} character${value === 1 ? "" : "s"}.`);
  }),
  pattern: keyword(isText, (value, node, name) => {
    hint(node, "string");
    tell(node, name, `Must match \`${clip(value, 200)}\`.`);
  }),
  contentEncoding: keyword(isText, (value, node, name) => {
    hint(node, "string");
    tell(node, name, `Encoded as ${clip(value, 60)}.`);
  }),
  contentMediaType: keyword(isText, (value, node, name) => {
    hint(node, "string");
    tell(node, name, `Holds ${clip(value, 60)}.`);
  }),
  contentSchema: keyword(isSchema, (value, node, name) => {
    hint(node, "string");
    tell(node, name, `Holds JSON: ${inManyWords(value)}.`);
  }),
};

function readFormat(value: string, node: SchemaNode, name: string): void {
  const { shape, reading } = node;
  const about = numeric[value] ?? "string";
  hint(node, about);
  // Gemini's SDKs write `format: "enum"` together with `enum`.
  if (value === "enum" || value === "") drop(node, name, "The format adds no rule.");
  else if ([...(shape.types ?? [about])].some((type) => reading.dialect.formats[type]?.includes(value)))
    shape.format = value;
  else tell(node, name, `Format: ${clip(value, 60)}.`);
}

/** The keywords in the order in which they are read. Reading a keyword may use the results of earlier keywords. */
const keywords: ReadonlyMap<string, Keyword & { readonly rank: number }> = new Map(
  [
    ...Object.entries({
      ...annotations,
      ...types,
      ...values,
      ...numbers,
      ...strings,
      ...arrays,
      ...objects,
      ...references,
    }),
    ...combinations,
  ].map(([name, reader], rank) => [name, { ...reader, rank }]),
);
