/** Reads keywords of strings, and `format`, which also applies to numbers. */

import { clip } from "@fairlead/wire/text";
import { isCount, isSchema, isText } from "../json-values.ts";
import { drop, hint, type Keyword, keyword, type Place, tell } from "../place.ts";
import { inManyWords } from "../write/type-text.ts";
import type { TypeName } from "./shape.ts";

/** Formats of numbers in OpenAPI. */
const numeric: Readonly<Record<string, TypeName>> = {
  int32: "integer",
  int64: "integer",
  float: "number",
  double: "number",
};

/** The keywords of strings. */
export const strings: Readonly<Record<string, Keyword>> = {
  format: keyword(isText, readFormat),
  minLength: keyword(isCount, (value, place, name) => {
    hint(place, "string");
    if (value === 0) drop(place, name, "The value is the default.");
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
  // Gemini's SDKs write it beside an `enum`; it has no further meaning.
  if (value === "enum" || value === "") drop(place, name, "It has no meaning here.");
  else if ([...(shape.types ?? [about])].some((type) => reading.dialect.formats[type]?.includes(value)))
    shape.format = value;
  else tell(place, name, `Format: ${clip(value, 60)}.`);
}
