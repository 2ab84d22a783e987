/** Reads bounds of numbers. The API knows only `minimum` and `maximum` (Gemini API types, `responseJsonSchema`). */

import { isFlag, isNumber } from "../json-values.ts";
import { drop, hint, type Keyword, keyword, type Place, report, tell } from "../place.ts";

/** Draft 4 wrote `exclusiveMinimum: true` beside `minimum`; later drafts write a number. */
function isBound(value: unknown): value is number | boolean {
  return isNumber(value) || isFlag(value);
}

/** The keywords of numbers. */
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
    drop(place, name, "It excludes nothing.");
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
  if (isWhole) report(place, name, "rewritten", `For whole numbers it is the ${limit} ${nearest}.`);
  else tell(place, name, `${words} ${bound}.`);
}
