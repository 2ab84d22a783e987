/** Reads keywords of numbers and strings. For numbers, the API supports only `minimum` and `maximum`. */

import { clip } from "@fairlead/wire/text";
import { isCount, isFlag, isNumber, isSchema, isText } from "../json-values.ts";
import { drop, hint, type Keyword, keyword, type Place, report, tell } from "../place.ts";
import { inManyWords } from "../write/type-text.ts";
import type { TypeName } from "./shape.ts";

/** Whether the value is valid for `exclusiveMinimum`: a number, or in draft 4 a boolean next to `minimum`. */
function isBound(value: unknown): value is number | boolean {
  return isNumber(value) || isFlag(value);
}

/** The functions that read the keywords of numbers, by keyword. */
export const numbers: Readonly<Record<string, Keyword>> = {
  minimum: keyword(isNumber, (value, place) => {
    hint(place, "number");
    place.shape.minimum = value;
  }),
  maximum: keyword(isNumber, (value, place) => {
    hint(place, "number");
    place.shape.maximum = value;
  }),
  exclusiveMinimum: keyword(isBound, (value, place, name) => {
    exclude(place, name, value === true ? place.raw["minimum"] : value, {
      limit: "minimum",
      step: 1,
      words: "Greater than",
    });
  }),
  exclusiveMaximum: keyword(isBound, (value, place, name) => {
    exclude(place, name, value === true ? place.raw["maximum"] : value, {
      limit: "maximum",
      step: -1,
      words: "Less than",
    });
  }),
  multipleOf: keyword(isNumber, (value, place, name) => {
    hint(place, "number");
    tell(place, name, `A multiple of ${value}.`);
  }),
};

interface Side {
  readonly limit: "minimum" | "maximum";
  readonly step: 1 | -1;
  readonly words: string;
}

function exclude(place: Place, name: string, bound: unknown, { limit, step, words }: Side): void {
  if (!isNumber(bound)) {
    drop(place, name, "The keyword has no effect: it contains no limit.");
    return;
  }
  hint(place, "number");
  const { shape } = place;
  const isWhole = shape.types?.has("integer") === true;
  const nearest = isWhole ? (step === 1 ? Math.floor(bound) + 1 : Math.ceil(bound) - 1) : bound;
  const stricter = step === 1 ? Math.max : Math.min;
  const given = shape[limit];
  shape[limit] = given === undefined ? nearest : stricter(given, nearest);
  if (given !== undefined && shape[limit] !== given) report(place, limit, "rewritten", `${name} is stricter.`);
  if (isWhole) report(place, name, "rewritten", `For whole numbers, this keyword means ${limit} ${nearest}.`);
  else tell(place, name, `${words} ${bound}.`);
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
  minLength: keyword(isCount, (value, place, name) => {
    hint(place, "string");
    if (value === 0) drop(place, name, "The keyword has its default value.");
    else tell(place, name, `At least ${value} character${value === 1 ? "" : "s"}.`);
  }),
  maxLength: keyword(isCount, (value, place, name) => {
    hint(place, "string");
    tell(place, name, `At most ${value} character${value === 1 ? "" : "s"}.`);
  }),
  pattern: keyword(isText, (value, place, name) => {
    hint(place, "string");
    tell(place, name, `Must match \`${clip(value, 200)}\`.`);
  }),
  contentEncoding: keyword(isText, (value, place, name) => {
    hint(place, "string");
    tell(place, name, `Encoded as ${clip(value, 60)}.`);
  }),
  contentMediaType: keyword(isText, (value, place, name) => {
    hint(place, "string");
    tell(place, name, `Holds ${clip(value, 60)}.`);
  }),
  contentSchema: keyword(isSchema, (value, place, name) => {
    hint(place, "string");
    tell(place, name, `Holds JSON: ${inManyWords(value)}.`);
  }),
};

function readFormat(value: string, place: Place, name: string): void {
  const { shape, reading } = place;
  const about = numeric[value] ?? "string";
  hint(place, about);
  // Gemini's SDKs write `format: "enum"` together with `enum`.
  if (value === "enum" || value === "") drop(place, name, "The format adds no rule.");
  else if ([...(shape.types ?? [about])].some((type) => reading.dialect.formats[type]?.includes(value)))
    shape.format = value;
  else tell(place, name, `Format: ${clip(value, 60)}.`);
}
