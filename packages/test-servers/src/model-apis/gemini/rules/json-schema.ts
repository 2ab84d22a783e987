/** Rules for `parametersJsonSchema`, and rules for both forms of schemas. */

import type { Declaration, Schema } from "../request.ts";
import { danglesAt, isEndless } from "./references.ts";
import { declarationAt, eachDeclaration, firstOf, inProto, type Rule } from "./rule.ts";
import { dottedPath, isSchema, listAt, namedPath, type Spot, spotsIn, typeOf } from "./schema-walk.ts";

/**
 * The keywords that `GenerateContentConfig.responseJsonSchema` allows (typings of @google/genai). For functions there
 * is no separate list.
 */
const keywords: ReadonlySet<string> = new Set([
  "$id",
  "$defs",
  "$ref",
  "$anchor",
  "type",
  "format",
  "title",
  "description",
  "enum",
  "items",
  "prefixItems",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "anyOf",
  "oneOf",
  "properties",
  "additionalProperties",
  "required",
  "propertyOrdering",
]);

function rootOf({ parametersJsonSchema, parameters }: Declaration): Schema | undefined {
  return parametersJsonSchema ?? parameters;
}

function spotsOf(root: Schema | undefined): Spot[] {
  return isSchema(root) ? spotsIn(root) : [];
}

const learnMore = "Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling";

/**
 * The schema must describe an object: vercel/ai #12183, and `FunctionDeclaration.parametersJsonSchema` in the typings
 * of @google/genai.
 */
const object = firstOf((declaration) => {
  const root = rootOf(declaration);
  if (root === undefined || typeOf(root) === "OBJECT") return [];
  const subject = `\`${declaration.name}\` functionDeclaration`;
  return [`Unable to submit request because ${subject} parameters schema should be of type OBJECT. ${learnMore}`];
});

/**
 * Refuses keywords that are not in the list. The rule is published, but the text of the error is not; here it has the
 * form of the error for names.
 */
const unsupported = eachDeclaration(
  ({ parametersJsonSchema }, index) =>
    spotsOf(parametersJsonSchema).flatMap((spot) =>
      Object.keys(spot.schema)
        .filter((keyword) => !keywords.has(keyword))
        .map((keyword) => {
          const path = `${declarationAt(index)}.parameters_json_schema${namedPath(spot)}`;
          return `${path}: [FIELD_INVALID] Unsupported keyword "${keyword}".`;
        }),
    ),
  inProto,
);

/** `enum` is allowed only for strings and numbers, according to the same list. */
const values = eachDeclaration(
  ({ parametersJsonSchema }, index) =>
    spotsOf(parametersJsonSchema)
      .filter(({ schema }) =>
        listAt(schema, "enum").some((value) => typeof value !== "string" && typeof value !== "number"),
      )
      .map((spot) => {
        const path = `${declarationAt(index)}.parameters_json_schema${namedPath(spot)}`;
        return `${path}.enum: [FIELD_INVALID] Only strings and numbers are supported.`;
      }),
  inProto,
);

/** A schema needs a type: google-gemini/gemini-cli #2282. Alternatives or a reference count as a type. */
const typed = firstOf((declaration) =>
  spotsOf(rootOf(declaration))
    .filter(({ schema }) => ["type", "anyOf", "oneOf", "$ref"].every((keyword) => schema[keyword] === undefined))
    .map((spot) => {
      const subject = `\`${declaration.name}\` functionDeclaration \`parameters.${dottedPath(spot)}\``;
      return `Unable to submit request because ${subject} schema didn't specify the schema type field. ${learnMore}`;
    }),
);

/** google-gemini/gemini-cli #1458. */
const required = firstOf((declaration) =>
  spotsOf(rootOf(declaration)).flatMap(({ schema }) => {
    const properties = isSchema(schema["properties"]) ? schema["properties"] : {};
    const absent = listAt(schema, "required").filter((name) => !Object.hasOwn(properties, String(name)));
    if (absent.length === 0) return [];
    const names = absent.map((name) => `'${String(name)}'`).join(", ");
    return [`Unable to submit request because required fields [${names}] are not defined in the schema properties`];
  }),
);

/**
 * Which keywords may stand beside `$ref`: the text of the error is from anomalyco/opencode #12295; the typings allow
 * only keywords that start with `$`.
 */
const alone = firstOf(({ parametersJsonSchema }) =>
  spotsOf(parametersJsonSchema).flatMap(({ schema }) => {
    const { $ref } = schema as { readonly $ref?: unknown };
    if (typeof $ref !== "string" || Object.keys(schema).every((keyword) => keyword.startsWith("$"))) return [];
    const target = $ref.split("/").at(-1);
    return [
      `$ref '${target}' was set alongside unsupported fields. If a schema node has $ref set, then only description and default can be set alongside it`,
    ];
  }),
);

/** A reference must lead to a schema: google-gemini/gemini-cli #13326. The error names no function. */
const undefinedReference = firstOf(({ parametersJsonSchema }) =>
  isSchema(parametersJsonSchema)
    ? danglesAt(parametersJsonSchema).map((spot) => `reference to undefined schema at ${dottedPath(spot)}`)
    : [],
);

/**
 * Cycles "may only be used within non-required properties" (same typings). The real text of the error is not known, so
 * it names nothing.
 */
const endless = firstOf(({ parametersJsonSchema }) =>
  isSchema(parametersJsonSchema) && isEndless(parametersJsonSchema) ? ["Request contains an invalid argument."] : [],
);

/** The limit for nested schemas: zereight/gitlab-mcp #223. The real number is not published. */
const depth = firstOf((declaration, _index, { settings }) =>
  spotsOf(rootOf(declaration)).some(({ steps }) => steps.length > settings.maxDepth)
    ? [`FunctionDeclaration '${declaration.name}' in the request exceeds the maximum allowed nesting depth.`]
    : [],
);

export const jsonSchemaRules: readonly Rule[] = [
  object,
  unsupported,
  values,
  typed,
  required,
  alone,
  undefinedReference,
  endless,
  depth,
];
