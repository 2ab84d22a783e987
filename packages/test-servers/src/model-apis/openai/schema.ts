/** Finds the faults in a function's schema that OpenAI's API reports. */

type Schema = Readonly<Record<string, unknown>>;

export function isObjectSchema(schema: Schema): boolean {
  return schema["type"] === "object";
}

/** Returns the path to a list whose schema has no `items`. */
export function arrayWithoutItems(schema: unknown): readonly string[] | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  const { type, items, properties, anyOf } = schema as Schema;
  if (type === "array" && (typeof items !== "object" || items === null)) return [];
  return inside("properties", properties) ?? inside("anyOf", anyOf) ?? inside("items", items && { "": items });
}

function inside(keyword: string, members: unknown): readonly string[] | undefined {
  for (const [name, schema] of Object.entries(Object(members) as object)) {
    const way = arrayWithoutItems(schema);
    if (way) return [keyword, ...(name === "" ? [] : [name]), ...way];
  }
  return undefined;
}
