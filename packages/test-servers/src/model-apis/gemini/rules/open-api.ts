/**
 * Rules for `parameters`, a subset of OpenAPI 3.0. The API defines its keywords as fields of a message, so an unknown
 * keyword is an error in the JSON.
 */

import { badPayload } from "../errors.ts";
import { type Declaration, declarationsIn } from "../request.ts";
import { type DeclarationRule, declarationAt, eachDeclaration, firstOf, inRequest, type Rule } from "./rule.ts";
import { dottedPath, fieldPath, isSchema, listAt, namedPath, type Spot, spotsIn, typeOf } from "./schema-walk.ts";

/** The fields of `Schema` in the typings of @google/genai that the Gemini API has. */
const fields: ReadonlySet<string> = new Set([
  "type",
  "format",
  "title",
  "description",
  "nullable",
  "enum",
  "items",
  "minItems",
  "maxItems",
  "properties",
  "required",
  "minProperties",
  "maxProperties",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "pattern",
  "example",
  "default",
  "anyOf",
  "propertyOrdering",
]);

function spotsOf({ parameters }: Declaration): Spot[] {
  return isSchema(parameters) ? spotsIn(parameters) : [];
}

/** Refuses unknown keywords: 5ire #42 (`additionalProperties`), zed #44875 (`const`), CLIProxyAPI #97 (`$schema`). */
const unknownField: Rule = ({ body }) => {
  const violations = declarationsIn(body).flatMap((declaration, index) =>
    spotsOf(declaration).flatMap((spot) => {
      const field = `${declarationAt(index)}.parameters${fieldPath(spot)}`;
      return Object.keys(spot.schema)
        .filter((keyword) => !fields.has(keyword))
        .map((keyword) => ({
          field,
          description: `Invalid JSON payload received. Unknown name "${keyword}" at '${field}': Cannot find field.`,
        }));
    }),
  );
  return violations.length === 0 ? undefined : badPayload(violations);
};

/** Creates a rule for each schema. The error names the path of the schema, then the fault. */
function eachSchema(rule: (spot: Spot) => readonly string[]): Rule {
  const ofDeclaration: DeclarationRule = (declaration, index) =>
    spotsOf(declaration).flatMap((spot) =>
      rule(spot).map((words) => `${declarationAt(index)}.parameters${namedPath(spot)}${words}`),
    );
  return eachDeclaration(ofDeclaration, inRequest);
}

/** DEEIX-Chat #546. */
const items = eachSchema(({ schema }) =>
  typeOf(schema) === "ARRAY" && !isSchema(schema["items"]) ? [".items: missing field"] : [],
);

/** An object must have properties: agno #2112, browser-use #7. */
const properties = eachSchema(({ schema }) => {
  const named = schema["properties"];
  const isEmpty = !isSchema(named) || Object.keys(named).length === 0;
  return typeOf(schema) === "OBJECT" && isEmpty ? [".properties: should be non-empty for OBJECT type"] : [];
});

/** `Schema.enum` must contain strings (typings of @google/genai). The text of the error is widely reported. */
const values = eachSchema(({ schema }) => {
  if (schema["enum"] === undefined) return [];
  if (typeOf(schema) !== "STRING") return [".enum: only allowed for STRING type"];
  return listAt(schema, "enum").flatMap((value, index) => (value === "" ? [`.enum[${index}]: cannot be empty`] : []));
});

/** Older models support only two string formats. The text of the error is widely reported. */
const formats = eachSchema(({ schema }) => {
  const { format } = schema as { readonly format?: unknown };
  const isKnown = format === undefined || format === "enum" || format === "date-time";
  return typeOf(schema) === "STRING" && !isKnown
    ? [".format: only 'enum' and 'date-time' are supported for STRING type"]
    : [];
});

/** The names of `FunctionDeclaration.parameters` (typings of @google/genai). The real text of the error is not known. */
const parameterNames = eachSchema(({ schema }) =>
  Object.keys(isSchema(schema["properties"]) ? schema["properties"] : {})
    .filter((name) => !/^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/.test(name))
    .map((name) => `.properties[${name}]: Invalid parameter name.`),
);

const learnMore = "Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling";

/** On Vertex AI, `anyOf` must be the only keyword of a schema: lambda-alpha-labs/Graphenium #37. */
const aloneBesideAnyOf = firstOf((declaration, _index, { api }) =>
  spotsOf(declaration)
    .filter(({ schema }) => api === "vertex" && schema["anyOf"] !== undefined && Object.keys(schema).length > 1)
    .map((spot) => {
      const subject = `\`${declaration.name}\` functionDeclaration \`parameters.${dottedPath(spot)}\``;
      return `Unable to submit request because ${subject} schema specified other fields alongside any_of. When using any_of, it must be the only field set. ${learnMore}`;
    }),
);

export const openApiRules: readonly Rule[] = [
  unknownField,
  items,
  properties,
  values,
  formats,
  parameterNames,
  aloneBesideAnyOf,
];
