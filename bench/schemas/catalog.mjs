// A catalog of tools no two of which have the same schema, with what real ones are made of: definitions, alternatives, bounds, defaults.
export function catalog(count) {
  return Array.from({ length: count }, (_, index) => ({
    name: `tool_${index}`,
    description: `Does thing number ${index}.`,
    inputSchema: schema(index),
  }));
}

function schema(index) {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: {
      id: { type: "string", format: "uuid", description: `The id of thing ${index}.` },
      [`option-${index}`]: { type: ["string", "null"], default: null },
      count: { type: "integer", exclusiveMinimum: 0, maximum: 100 + index, default: 10 },
      kind: { anyOf: [{ const: "file" }, { const: "folder" }, { const: `kind ${index}` }] },
      tags: { type: "array", items: { type: "string", minLength: 1, maxLength: 40 }, uniqueItems: true },
      owner: { $ref: "#/$defs/person" },
      watchers: { type: "array", items: { $ref: "#/$defs/person" } },
      extra: { type: "object", additionalProperties: { type: "string" } },
    },
    required: ["id", "kind"],
    additionalProperties: false,
    $defs: {
      person: {
        type: "object",
        properties: { name: { type: "string" }, mail: { type: "string", format: "email" } },
        required: ["name"],
        additionalProperties: false,
      },
    },
  };
}
