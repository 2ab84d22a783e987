/** Short ways to compile in tests. */

import type { JsonObject } from "@fairlead/wire";
import { type CompiledSchema, compileSchema, type SchemaDialect } from "../../src/normalise/schema/compile.ts";

export type Compiled = Extract<CompiledSchema, { kind: "compiled" }>;

export function compiledOf(raw: unknown, dialect: SchemaDialect = "gemini"): Compiled {
  const compiled = compileSchema(raw, dialect);
  if (compiled.kind !== "compiled") throw new Error(compiled.reason);
  return compiled;
}

/** The schema of the one property `p`, and its repairs as `action keyword`, with the path below the property. */
export function propertyOf(raw: unknown, dialect: SchemaDialect = "gemini"): { schema: unknown; repairs: string[] } {
  const { schema, repairs } = compiledOf({ type: "object", properties: { p: raw } }, dialect);
  const path = "/properties/p";
  return {
    schema: (schema["properties"] as JsonObject)["p"],
    repairs: repairs.map((repair) =>
      [
        repair.action,
        `${repair.path.startsWith(path) ? repair.path.slice(path.length) : repair.path}/${repair.keyword}`,
      ].join(" "),
    ),
  };
}

/** As `propertyOf`, but each repair also has its note: `action keyword: note`. */
export function reportedOf(raw: unknown, dialect: SchemaDialect = "gemini"): { schema: unknown; repairs: string[] } {
  const { schema, repairs } = compiledOf({ type: "object", properties: { p: raw } }, dialect);
  return {
    schema: (schema["properties"] as JsonObject)["p"],
    repairs: repairs.map(({ action, path, keyword, note }) => {
      return `${action} ${path.replace("/properties/p", "")}/${keyword}: ${note}`;
    }),
  };
}

export const plainValues: JsonObject[] = ["string", "number", "boolean", "object"].map((type) => ({ type }));
/** What the API gets where anything fits. */
export const anything: JsonObject = { anyOf: [...plainValues, { type: "array", items: { anyOf: plainValues } }] };
