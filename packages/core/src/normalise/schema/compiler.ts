/** Compiles each schema once: a catalog that is registered again, or a schema that many tools share, costs a look into a table. */

import { createHash } from "node:crypto";
import { compileSafe, orQuarantined } from "./compile.ts";
import type { CompiledSchema, SchemaDialect } from "./compiled-schema.ts";
import { textOf } from "./read/bounds.ts";

export interface SchemaCompiler {
  compile(raw: unknown): CompiledSchema;
  /** How many were really compiled. */
  readonly compiled: number;
}

/** Enough for the largest catalogs; beyond it the oldest are forgotten. */
const mostRemembered = 20_000;

export function createSchemaCompiler(dialect: SchemaDialect = "gemini"): SchemaCompiler {
  const byContent = new Map<string, CompiledSchema>();
  let compiled = 0;
  return {
    get compiled() {
      return compiled;
    },
    compile(raw) {
      return orQuarantined(() => {
        // By its text: the order of properties is part of it.
        const key = createHash("sha256").update(textOf(raw)).digest("base64");
        const known = byContent.get(key);
        if (known !== undefined) return known;
        compiled += 1;
        const result = compileSafe(raw, dialect);
        byContent.set(key, result);
        if (byContent.size > mostRemembered) byContent.delete(byContent.keys().next().value ?? "");
        return result;
      });
    },
  };
}
