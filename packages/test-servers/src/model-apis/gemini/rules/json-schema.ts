/** Rules for `parametersJsonSchema`, and those that hold for either form. */

import type { Declaration, Schema } from "../request.ts";
import { danglesAt, isEndless } from "./references.ts";
import { declarationAt, eachDeclaration, firstOf, inProto, type Rule } from "./rule.ts";
import { dottedPath, isSchema, listAt, namedPath, type Spot, spotsIn, typeOf } from "./schema-walk.ts";

/** `GenerateContentConfig.responseJsonSchema` in the typings of @google/genai lists them; the sibling for functions has no list of its own. */
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

/** vercel/ai #12183; `FunctionDeclaration.parametersJsonSchema` in the typings: "must describe an object". */
const object = firstOf((declaration) => {
  const root = rootOf(declaration);
  if (root === undefined || typeOf(root) === "OBJECT") return [];
  const place = `\`${declaration.name}\` functionDeclaration`;
  return [`Unable to submit request because ${place} parameters schema should be of type OBJECT. ${learnMore}`];
});

/** What is not in the list: the rule is published, the answer is not; its shape is that of the rule for names. */
const unsupported = eachDeclaration(
  ({ parametersJsonSchema }, index) =>
    spotsOf(parametersJsonSchema).flatMap((spot) =>
      Object.keys(spot.schema)
        .filter((keyword) => !keywords.has(keyword))
        .map((keyword) => {
          const place = `${declarationAt(index)}.parameters_json_schema${namedPath(spot)}`;
          return `${place}: [FIELD_INVALID] Unsupported keyword "${keyword}".`;
        }),
    ),
  inProto,
);

/** The same list: "for strings and numbers". */
const values = eachDeclaration(
  ({ parametersJsonSchema }, index) =>
    spotsOf(parametersJsonSchema)
      .filter(({ schema }) =>
        listAt(schema, "enum").some((value) => typeof value !== "string" && typeof value !== "number"),
      )
      .map((spot) => {
        const place = `${declarationAt(index)}.parameters_json_schema${namedPath(spot)}`;
        return `${place}.enum: [FIELD_INVALID] Only strings and numbers are supported.`;
      }),
  inProto,
);

/** google-gemini/gemini-cli #2282; a schema may also be known by its alternatives or its reference. */
const typed = firstOf((declaration) =>
  spotsOf(rootOf(declaration))
    .filter(({ schema }) => ["type", "anyOf", "oneOf", "$ref"].every((keyword) => schema[keyword] === undefined))
    .map((spot) => {
      const place = `\`${declaration.name}\` functionDeclaration \`parameters.${dottedPath(spot)}\``;
      return `Unable to submit request because ${place} schema didn't specify the schema type field. ${learnMore}`;
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

/** anomalyco/opencode #12295 has the words; the typings allow only what starts with `$`, which is less. */
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

/** google-gemini/gemini-cli #13326, which names no function. */
const undefinedReference = firstOf(({ parametersJsonSchema }) =>
  isSchema(parametersJsonSchema)
    ? danglesAt(parametersJsonSchema).map((spot) => `reference to undefined schema at ${dottedPath(spot)}`)
    : [],
);

/** The same typings: cycles "may only be used within non-required properties"; what is answered is not known, so nothing is named. */
const endless = firstOf(({ parametersJsonSchema }) =>
  isSchema(parametersJsonSchema) && isEndless(parametersJsonSchema) ? ["Request contains an invalid argument."] : [],
);

/** zereight/gitlab-mcp #223; no number is published. */
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
