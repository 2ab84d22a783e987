/** Which schemas each model's API accepts. */

import type { ModelDialect } from "../schema-node.ts";

/**
 * Schemas in Gemini's `parametersJsonSchema`. Google's package documents the supported keywords at
 * `responseJsonSchema`.
 */
export const gemini: ModelDialect = {
  name: "The Gemini API",
  knowsPrefixItems: true,
  /*
   * Google's types list more string formats, but older Gemini models reject them: "only 'enum' and 'date-time' are
   * supported for STRING type".
   */
  formats: { string: ["date-time"], number: ["float", "double"], integer: ["int32", "int64"] },
  /*
   * A property name has at most 64 letters, digits and underscores, and no digit at the start. Source: Google's types,
   * at `FunctionDeclaration.parameters`.
   */
  propertyName: /^[A-Za-z_][A-Za-z0-9_]{0,63}$/,
  longestName: 64,
};

/**
 * OpenAI-compatible endpoints. Local servers convert schemas to grammars and support different keywords, so Fairlead
 * writes only keywords that most of them support.
 */
export const openai: ModelDialect = {
  name: "At least one OpenAI-compatible endpoint",
  knowsPrefixItems: false,
  formats: {},
  // OpenAI's rule for function names. The strictest endpoints also apply it to the names of properties.
  propertyName: /^[A-Za-z0-9_-]{1,64}$/,
  longestName: 64,
};

/**
 * Anthropic's API. It accepts draft 2020-12 with two exceptions that no schema may break: the root is one object without
 * `anyOf`, `oneOf` and `allOf`, and the names of properties are short. One schema that breaks them makes the API refuse
 * the whole request.
 */
export const anthropic: ModelDialect = {
  name: "Anthropic's API",
  knowsPrefixItems: true,
  // The formats that Anthropic documents for its structured outputs.
  formats: {
    string: ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"],
  },
  // The pattern in the API's error: "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'".
  propertyName: /^[A-Za-z0-9_.-]{1,64}$/,
  longestName: 64,
};
