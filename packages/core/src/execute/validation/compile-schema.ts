/** Compiles a server's schema to a function that checks values. No other file uses Ajv. */

import { isObject } from "@fairlead/wire/json";
import { clip, errorMessage } from "@fairlead/wire/text";
import { Ajv, type Options } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { RegExpEngine, RegExpLike } from "ajv/dist/types/index.js";
import { RE2JS } from "re2js";
import { toIssues } from "./describe-error.ts";
import { type PreparedSchema, prepareSchema } from "./prepare-schema.ts";
import { type Check, notValidated } from "./validation.ts";

const options: Options = {
  // Ajv ignores unknown keywords, because many servers' schemas contain some.
  strict: false,
  // No check against the meta-schema, because `prepare-schema.ts` has already repaired the schema.
  meta: false,
  validateSchema: false,
  // Inlined references could turn a small schema into a huge program.
  inlineRefs: false,
  // Only own properties count, not inherited ones such as `toString`.
  ownProperties: true,
  // In JSON Schema 2020-12, `format` is only an annotation. Checking it may also take very long.
  validateFormats: false,
  // `describe-error.ts` writes the messages. For this, `verbose` adds the schema to each error.
  messages: false,
  verbose: true,
  logger: false,
};

/**
 * Compiles a schema to a function that checks values. With `all`, the function reports every issue, otherwise only the
 * first one. Use `all` only for values that cannot have very many issues.
 */
export function compileCheck(text: string, all: boolean): Check {
  try {
    const patterns = createLinearPatterns();
    const prepared = prepareSchema(parse(text), patterns.refusal);
    const validate = validatorFor(prepared, { ...options, allErrors: all, code: { regExp: patterns.engine } }).compile(
      prepared.schema,
    );
    const { warnings } = prepared;
    const valid = { issues: [], warnings };
    return (value) => {
      try {
        return validate(value) ? valid : { issues: toIssues(validate.errors ?? []), warnings };
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

/** Creates a separate validator for each schema, so that one server's `$id` is not visible to another server. */
function validatorFor({ dialect, isWeakened }: PreparedSchema, rules: Options): Ajv | Ajv2020 {
  const ajv = dialect === "draft-07" ? new Ajv(rules) : new Ajv2020(rules);
  // Draft-04 schemas may contain `id`, the old name of `$id`. Ajv would throw an error at this keyword.
  ajv.removeKeyword("id");
  if (isWeakened) soften(ajv);
  return ajv;
}

/**
 * Removes keywords such as `not`, and relaxes `oneOf`. `not` rejects the values that its inner schema accepts: if the
 * inner schema lost a restriction, `not` would reject too many values.
 */
function soften(ajv: Ajv | Ajv2020): void {
  for (const keyword of ["not", "if", "contains", "oneOf", "unevaluatedItems", "unevaluatedProperties"])
    ajv.removeKeyword(keyword);
  ajv.addKeyword({ keyword: "oneOf", schemaType: "array", macro: (forms: unknown) => ({ anyOf: forms }) });
}

function reasonOf(error: unknown, what: string): string {
  if (error instanceof RangeError) return `${what} is nested too deeply`;
  return `${what} could not be used (${clip(errorMessage(error), 200)})`;
}

/**
 * Matches servers' patterns in linear time. V8's own engine can hang on a pattern of seven characters. `refusal` returns
 * why a pattern cannot be used (look-around, back-references, repeat counts above 1000).
 */
function createLinearPatterns(): {
  readonly engine: RegExpEngine;
  readonly refusal: (pattern: string) => string | undefined;
} {
  const compiled = new Map<string, RegExpLike | Error>();

  function compile(pattern: string): RegExpLike | Error {
    const result = compiled.get(pattern) ?? toLinear(pattern);
    compiled.set(pattern, result);
    return result;
  }

  function matcher(pattern: string): RegExpLike {
    const result = compile(pattern);
    if (result instanceof Error) throw result;
    return result;
  }

  return {
    // Ajv's type requires `code`, but it has no effect here.
    engine: Object.assign(matcher, { code: "linear" }),
    refusal(pattern) {
      const result = compile(pattern);
      return result instanceof Error ? result.message.replace(/^error parsing regexp: /, "") : undefined;
    },
  };
}

function toLinear(pattern: string): RegExpLike | Error {
  try {
    const linear = RE2JS.compile(RE2JS.translateRegExp(pattern));
    // Ajv uses `toString` as the cache key, so it must return the pattern.
    return Object.assign({ test: (text: string) => linear.test(text) }, { toString: () => `/${pattern}/` });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
