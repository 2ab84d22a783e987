/** A catalog with the oddities of real servers' schemas, and values that each tool accepts. */

interface OddTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: object;
  readonly outputSchema?: object;
  readonly annotations?: object;
}

const block = {
  type: "object",
  properties: { text: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/block-object" } } },
  required: ["text"],
};
const $defs = { "block-object": block, colour: { enum: ["red", "green", null], description: "A colour." } };

/** Each tool, with three arguments that validation accepts. */
export const oddTools: readonly (readonly [tool: OddTool, ...samples: readonly [object, object, object]])[] = [
  [{ name: "no_schema", inputSchema: {} }, {}, { a: 1 }, { "a b": [null] }],
  [{ name: "no-parameters", inputSchema: { type: "object", additionalProperties: false } }, {}, {}, {}],
  [
    {
      name: "API-search",
      description: "Searches */ alert(1) /*\n@ts-expect-error\n`${process.exit()}` \u202ethgir",
      inputSchema: {
        $schema: "http://json-schema.org/draft-07/schema#",
        type: "object",
        properties: {
          query: { type: "string", description: "What to find. */" },
          limit: { type: "integer", default: 10, minimum: 1, maximum: 100 },
          "sort by": { type: "string", enum: ["new", "old", 'a"b'] },
          since: { type: "string", format: "date-time" },
        },
        required: ["query"],
        additionalProperties: false,
      },
      annotations: { readOnlyHint: true },
    },
    { query: "a" },
    { query: "a", limit: 5, "sort by": 'a"b' },
    { query: "", since: "2026-01-31T08:30:00Z" },
  ],
  [
    {
      name: "append_blocks",
      inputSchema: {
        type: "object",
        properties: {
          blocks: { type: "array", items: { $ref: "#/$defs/block-object" } },
          colour: { $ref: "#/$defs/colour" },
        },
        required: ["blocks"],
        $defs,
      },
    },
    { blocks: [] },
    { blocks: [{ text: "a", children: [{ text: "b", children: [] }] }], colour: null },
    { blocks: [{ text: "a" }], colour: "red" },
  ],
  [
    {
      name: "update_block",
      inputSchema: {
        type: "object",
        properties: { block: { $ref: "#/$defs/block-object" } },
        required: ["block"],
        $defs,
      },
    },
    { block: { text: "a" } },
    { block: { text: "a", children: [] } },
    { block: { text: "", children: [{ text: "b" }] } },
  ],
  [
    {
      name: "nullable",
      inputSchema: {
        type: "object",
        properties: {
          either: { anyOf: [{ type: "string" }, { type: "null" }] },
          several: { type: ["number", "boolean", "null"] },
          old: { type: "string", nullable: true },
          pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false, minItems: 1 },
          map: { type: "object", additionalProperties: { type: "number" } },
          open: { type: "object", properties: { a: { type: "string" } }, additionalProperties: true },
          named: { type: "object", propertyNames: { enum: ["x", "y"] }, additionalProperties: { type: "boolean" } },
        },
      },
    },
    {},
    { either: null, several: 1.5, old: null, pair: ["a"], map: { a: 1 }, open: { b: 2 }, named: { x: true } },
    { either: "a", several: false, old: "a", pair: ["a", 1], map: {}, open: { a: "a" }, named: {} },
  ],
  [
    {
      name: "variants",
      inputSchema: {
        type: "object",
        properties: {
          shape: {
            oneOf: [
              {
                type: "object",
                properties: { kind: { const: "circle" }, radius: { type: "number" } },
                required: ["kind", "radius"],
              },
              {
                type: "object",
                properties: { kind: { const: "square" }, side: { type: "number" } },
                required: ["kind", "side"],
              },
            ],
          },
          id: { type: "string" },
          name: { type: "string" },
        },
        anyOf: [{ required: ["id"] }, { required: ["name"] }],
      },
    },
    { id: "a" },
    { name: "a", shape: { kind: "circle", radius: 1 } },
    { id: "a", name: "b", shape: { kind: "square", side: 2 } },
  ],
  [
    {
      name: "__proto__",
      inputSchema: {
        type: "object",
        properties: {
          constructor: { type: "string" },
          toString: { type: "number" },
          "": { type: "string" },
          "1": { type: "string" },
        },
        required: ["undescribed"],
      },
    },
    { undescribed: 1, constructor: "a", toString: 1 },
    { undescribed: null, constructor: "b", toString: 2, "": "a" },
    { undescribed: {}, constructor: "c", toString: 3, "1": "b" },
  ],
  [
    {
      name: "then",
      inputSchema: { type: "object", properties: { structured: { type: "object" }, fails: { type: "boolean" } } },
      outputSchema: {
        type: "object",
        properties: { sum: { type: "number" }, note: { type: "string" } },
        required: ["sum"],
      },
    },
    { structured: { sum: 1 } },
    { structured: { sum: 2, note: "a" } },
    { structured: { sum: -1, more: true } },
  ],
];
