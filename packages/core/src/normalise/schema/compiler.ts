/** Compiles each schema once and caches the result. */

import { createHash } from "node:crypto";
import { compileSafe, orQuarantined } from "./compile.ts";
import type { CompiledSchema, SchemaDialect } from "./compiled-schema.ts";
import { textOf } from "./read/bounds.ts";

/** A schema compiler with a cache. */
export interface SchemaCompiler {
  compile(raw: unknown): CompiledSchema;
  /** The number of schemas that were compiled, not taken from the cache. */
  readonly compiled: number;
}

/** Enough for the largest catalogs; beyond it the oldest results are dropped. */
const mostRemembered = 20_000;

/** Creates a compiler with an empty cache. */
export function createSchemaCompiler(dialect: SchemaDialect = "gemini"): SchemaCompiler {
  const byContent = new Map<string, CompiledSchema>();
  let compiled = 0;
  return {
    get compiled() {
      return compiled;
    },
    compile(raw) {
      return orQuarantined(() => {
        // Keyed by the text, because the order of properties matters.
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
