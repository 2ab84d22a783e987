/** Turns a server's schema into a function that checks values. The only file that knows the validator. */

import { isObject } from "@fairlead/wire/json";
import { clip, errorMessage } from "@fairlead/wire/text";
import { Ajv, type Options } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { toIssues } from "./describe-error.ts";
import { createLinearPatterns } from "./linear-pattern.ts";
import { type PreparedSchema, prepareSchema } from "./prepare-schema.ts";
import { type Check, notValidated } from "./validation.ts";

const options: Options = {
  // Unknown keywords are annotations: servers write many.
  strict: false,
  // A schema that is not quite one is repaired here and not refused there; and no reference may lead to a built-in schema.
  meta: false,
  validateSchema: false,
  // Written out, references could make a small schema a huge program.
  inlineRefs: false,
  // A property of Object.prototype is not a property of the value.
  ownProperties: true,
  // An annotation, as 2020-12 has it: servers use names of their own, and the usual checks are patterns without a bound.
  validateFormats: false,
  // Our words are in describe-error.ts; they need to know which schema an error belongs to.
  messages: false,
  verbose: true,
  logger: false,
};

/** `all`: every issue, not only the first; for values that cannot have very many. */
export function compileSchema(text: string, all: boolean): Check {
  try {
    const patterns = createLinearPatterns();
    const prepared = prepareSchema(parse(text), patterns.refusal);
    const validate = validatorFor(prepared, { ...options, allErrors: all, code: { regExp: patterns.engine } }).compile(
      prepared.schema,
    );
    return (value) => {
      try {
        const issues = validate(value) ? [] : toIssues(validate.errors ?? []);
        return { issues, warnings: prepared.warnings };
      } catch (error) {
        return notValidated(reasonOf(error, "the value"));
      }
    };
  } catch (error) {
    const failed = notValidated(reasonOf(error, "its schema"));
    return () => failed;
  }
}

function parse(text: string): PreparedSchema["schema"] {
  const schema: unknown = JSON.parse(text);
  return isObject(schema) ? schema : {};
}

/** One for each schema: what a server names with `$id` must not be seen, or taken, by another. */
function validatorFor({ dialect, isWeakened }: PreparedSchema, rules: Options): Ajv | Ajv2020 {
  const ajv = dialect === "draft-07" ? new Ajv(rules) : new Ajv2020(rules);
  // Draft-04's word for `$id`; the validator would rather throw.
  ajv.removeKeyword("id");
  if (isWeakened) soften(ajv);
  return ajv;
}

/** Inside these, a schema that accepts too much makes its surroundings accept too little. So they count for nothing, or for less. */
function soften(ajv: Ajv | Ajv2020): void {
  for (const keyword of ["not", "if", "contains", "oneOf", "unevaluatedItems", "unevaluatedProperties"])
    ajv.removeKeyword(keyword);
  ajv.addKeyword({ keyword: "oneOf", schemaType: "array", macro: (forms: unknown) => ({ anyOf: forms }) });
}

function reasonOf(error: unknown, what: string): string {
  if (error instanceof RangeError) return `${what} is nested too deeply`;
  return `${what} could not be used (${clip(errorMessage(error), 200)})`;
}
