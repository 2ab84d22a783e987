/** From the text of `key=value` to the value that a tool's schema asks for. Pure. */

type JsonType = "string" | "number" | "integer" | "boolean" | "object" | "array" | "null";

export type Coerced =
  | { readonly kind: "value"; readonly value: unknown }
  /** The reason completes the sentence "KEY …". */
  | { readonly kind: "mistake"; readonly reason: string };

/** Text stays text where the schema allows a string or does not say; anything else is read as JSON. */
export function coerce(text: string, schema: unknown): Coerced {
  const types = typesOf(schema, 0);
  if (types.size === 0 || types.has("string")) return { kind: "value", value: text };
  const parsed = parseJson(text);
  if (parsed.kind === "value" && !isAnyOf(types, parsed.value)) return mistake(types, text);
  if (parsed.kind === "mistake") return mistake(types, text);
  if (typeof parsed.value === "number" && Number.isInteger(parsed.value) && !Number.isSafeInteger(parsed.value))
    return { kind: "mistake", reason: `is too large to be kept exactly: ${text}` };
  return parsed;
}

export function parseJson(text: string): Coerced {
  try {
    return { kind: "value", value: JSON.parse(text) as unknown };
  } catch (error) {
    return { kind: "mistake", reason: `is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function mistake(types: ReadonlySet<JsonType>, text: string): Coerced {
  const wanted = [...types].map((type) => names.get(type) ?? type).join(" or ");
  return { kind: "mistake", reason: `must be ${wanted}, not ${JSON.stringify(text)}` };
}

const names: ReadonlyMap<JsonType, string> = new Map([
  ["number", "a number"],
  ["integer", "an integer"],
  ["boolean", "true or false"],
  ["object", "a JSON object"],
  ["array", "a JSON array"],
]);

/** Schemas are the server's: alternatives are followed only so far. */
const deepest = 8;

function typesOf(schema: unknown, depth: number): ReadonlySet<JsonType> {
  if (typeof schema !== "object" || schema === null || depth > deepest) return new Set();
  const keywords = new Map<string, unknown>(Object.entries(schema));
  const type = keywords.get("type");
  if (type !== undefined) return new Set([type].flat().filter(isJsonType));
  const values = keywords.has("const") ? [keywords.get("const")] : list(keywords.get("enum"));
  const alternatives = [...list(keywords.get("anyOf")), ...list(keywords.get("oneOf"))];
  return new Set([...values.map(typeOf), ...alternatives.flatMap((one) => [...typesOf(one, depth + 1)])]);
}

function isJsonType(type: unknown): type is JsonType {
  return type === "string" || type === "null" || [...names.keys()].some((name) => name === type);
}

function isAnyOf(types: ReadonlySet<JsonType>, value: unknown): boolean {
  return types.has(typeOf(value)) || (types.has("integer") && Number.isInteger(value));
}

function typeOf(value: unknown): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return typeof value as JsonType;
  return "object";
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
