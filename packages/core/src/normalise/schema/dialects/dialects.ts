/** The differences between models' APIs in the schemas that they accept. */

import type { ModelDialect } from "../place.ts";

/** Gemini's `parametersJsonSchema`. The types of Google's package list the supported keywords at `responseJsonSchema`. */
export const gemini: ModelDialect = {
  name: "The Gemini API",
  knowsPrefixItems: true,
  // The types of Google's package list more formats for strings, but older Gemini models reject these with "only 'enum'
  // and 'date-time' are supported for STRING type".
  formats: { string: ["date-time"], number: ["float", "double"], integer: ["int32", "int64"] },
  // Gemini API types, `FunctionDeclaration.parameters`: letters, digits and underscores, a letter or underscore first,
  // at most 64.
  propertyName: /^[A-Za-z_][A-Za-z0-9_]{0,63}$/,
  longestName: 64,
};

/**
 * OpenAI-compatible endpoints. Local servers convert schemas to grammars and support different keywords, so only common
 * ones are used.
 */
export const openai: ModelDialect = {
  name: "Not every OpenAI-compatible endpoint",
  knowsPrefixItems: false,
  formats: {},
  // OpenAI's rule for function names, which the strictest endpoints apply to properties too.
  propertyName: /^[A-Za-z0-9_-]{1,64}$/,
  longestName: 64,
};
