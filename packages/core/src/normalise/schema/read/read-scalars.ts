/** Reads keywords of numbers and strings. For numbers, the API supports only `minimum` and `maximum`. */

import { clip } from "@fairlead/wire/text";
import { isCount, isFlag, isNumber, isSchema, isText } from "../json-values.ts";
import { drop, hint, type Keyword, keyword, report, type SchemaNode, tell } from "../schema-node.ts";
import { inManyWords } from "../write/type-text.ts";
import type { TypeName } from "./shape.ts";

/** Whether the value is valid for `exclusiveMinimum`: a number, or in draft 4 a boolean next to `minimum`. */
function isBound(value: unknown): value is number | boolean {
  return isNumber(value) || isFlag(value);
}

/** The functions that read the keywords of numbers, by keyword. */
export const numbers: Readonly<Record<string, Keyword>> = {
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
export const strings: Readonly<Record<string, Keyword>> = {
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
