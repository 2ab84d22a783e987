/** Where the APIs of models differ in what they take. */

import type { ModelDialect } from "../place.ts";

/** Gemini's `parametersJsonSchema`, whose keywords its typings list at the sibling `responseJsonSchema`. */
export const gemini: ModelDialect = {
  name: "The Gemini API",
  knowsPrefixItems: true,
  // The typings name more for strings, but older models answer "only 'enum' and 'date-time' are supported for STRING type".
  formats: { string: ["date-time"], number: ["float", "double"], integer: ["int32", "int64"] },
  // Gemini API typings, `FunctionDeclaration.parameters`: letters, digits and underscores, a letter or underscore first, at most 64.
  propertyName: /^[A-Za-z_][A-Za-z0-9_]{0,63}$/,
  longestName: 64,
};

/** Endpoints that speak like OpenAI's. Local servers make grammars of schemas, and differ in what these may say: as little as possible. */
export const openai: ModelDialect = {
  name: "Not every OpenAI-compatible endpoint",
  knowsPrefixItems: false,
  formats: {},
  // What OpenAI asks of names of functions, and the strictest endpoints of properties too.
  propertyName: /^[A-Za-z0-9_-]{1,64}$/,
  longestName: 64,
};
