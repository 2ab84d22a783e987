/** Creates the JSON Schema of the settings file, for editors. The source is the table in `schema.ts`. */

import type { SettingsKey } from "./key.ts";
import { present } from "./present.ts";
import { settingsSchema } from "./schema.ts";

type JsonSchema = Record<string, unknown>;

/** Returns the JSON Schema (draft 7) of the settings file. */
export function settingsJsonSchema(): JsonSchema {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Fairlead settings",
    ...toJsonSchema(settingsSchema),
  };
}

function toJsonSchema(key: SettingsKey): JsonSchema {
  const { description } = key;
  if (key.type === "object") {
    const properties = Object.fromEntries(
      Object.entries(key.properties).map(([name, inner]) => [name, toJsonSchema(inner)]),
    );
    const oneOf = key.exactlyOneOf?.map((name) => ({ required: [name] }));
    const type = key.instead === undefined ? "object" : ["object", shapeOf(key.instead)["type"]];
    return present({ type, description, properties, additionalProperties: key.shared ?? false, oneOf });
  }
  if (key.type === "named") return { type: "object", description, additionalProperties: toJsonSchema(key.each) };
  const { examples, ignored } = key;
  return present({
    ...shapeOf(key),
    description: ignored === undefined ? description : `${description} Ignored: ${ignored}`,
    default: "default" in key ? key.default : undefined,
    examples,
    deprecated: ignored === undefined ? undefined : true,
    "x-expanded": key.expanded,
    "x-workspace": key.workspace,
  });
}

function shapeOf(key: Exclude<SettingsKey, { type: "object" | "named" }>): JsonSchema {
  const texts = { type: "array", items: { type: "string" } };
  switch (key.type) {
    case "text":
      return present({
        type: "string",
        enum: key.oneOf,
        format: key.format === undefined || key.expanded ? undefined : "uri",
      });
    case "switch":
      return { type: "boolean" };
    case "number":
      return { type: "number", minimum: key.minimum, maximum: key.maximum };
    case "list":
      return texts;
    case "texts":
      return { type: "object", additionalProperties: { type: ["string", "number", "boolean"] } };
    case "lists":
      return { type: "object", additionalProperties: texts };
    case "section":
      return { type: "object" };
  }
}
