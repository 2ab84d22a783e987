/** Compiles a tool's schema for a model's API. Pure: equal schemas give equal results, and nothing is fetched. */

import { hash } from "node:crypto";
import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { HostError } from "../../errors.ts";
import { withOptionalDefaults } from "./argument-schema.ts";
import type { CompiledSchema, Repair, SchemaDialect } from "./compiled-schema.ts";
import { anthropic, gemini, openai } from "./dialects/dialects.ts";
import { modernise } from "./dialects/json-schema-2020-12.ts";
import { openDocument, type Spot } from "./document.ts";
import { quote } from "./json-values.ts";
import { checkWritten, nothingSpent, textOf } from "./read/bounds.ts";
import { readSchema } from "./read/read.ts";
import { reportDefinitions } from "./read/read-references.ts";
import type { ModelDialect, Reading, Report } from "./schema-node.ts";
import { propertyNamesIn, renamedFor, reportRenamed, restoring, unchanged } from "./write/property-names.ts";
import { writeRoot } from "./write/write.ts";

export type { CompiledSchema, Repair, RepairAction, SchemaDialect } from "./compiled-schema.ts";

/** Compiles a schema, or returns the reason why it is quarantined. */
export function compileSchema(raw: unknown, dialect: SchemaDialect): CompiledSchema {
  return orQuarantined(() => {
    textOf(raw);
    return compileSafe(raw, dialect);
  });
}

/** Compiles a schema whose size has been checked. */
export function compileSafe(raw: unknown, dialect: SchemaDialect): CompiledSchema {
  return orQuarantined(() => {
    const repairs = new Map<string, Repair>();
    const report: Report = (path, keyword, action, note) => {
      // Fairlead reads a definition again for each `$ref` to it, but reports each repair of the definition only once.
      const key = `${action} ${path.length} ${path}${keyword}`;
      if (!repairs.has(key)) repairs.set(key, { path, keyword, action, note });
    };
    const { schema, restore } = compileDocument(toDocument(raw, report), dialect, report);
    return { kind: "compiled", schema, repairs: [...repairs.values()], restore };
  });
}

/** Calls `compile`. If it throws a `HostError` with the code `quarantined`, returns a quarantined result. */
export function orQuarantined(compile: () => CompiledSchema): CompiledSchema {
  try {
    return compile();
  } catch (error) {
    if (!(error instanceof HostError) || error.code !== "quarantined") throw error;
    return { kind: "quarantined", reason: error.message };
  }
}

/** The schema as an object. If a tool has no schema or an invalid one, the tool accepts any object. */
function toDocument(raw: unknown, report: Report): JsonObject {
  if (isObject(raw)) {
    return withOptionalDefaults(raw, (path, keyword, names) => {
      const what = clip(names.map(quote).join(", "), 200);
      report(path, keyword, "rewritten", `The server fills in a missing property that has a default: ${what}.`);
    });
  }
  if (raw !== undefined && raw !== null && raw !== true)
    report("", "", "rewritten", `${quote(raw)} is not the schema of an object.`);
  return { type: "object" };
}

function compileDocument(
  raw: JsonObject,
  dialect: SchemaDialect,
  report: Report,
): Pick<Extract<CompiledSchema, { kind: "compiled" }>, "schema" | "restore"> {
  switch (dialect) {
    case "gemini":
      return compileForModel(raw, gemini, report);
    case "openai":
      return compileForModel(raw, openai, report);
    case "anthropic":
      return compileForModel(raw, anthropic, report);
    case "json-schema-2020-12":
      return { schema: modernise(raw, report), restore: unchanged };
  }
}

function compileForModel(
  raw: JsonObject,
  dialect: ModelDialect,
  report: Report,
): Pick<Extract<CompiledSchema, { kind: "compiled" }>, "schema" | "restore"> {
  const spent = nothingSpent();
  const renamed = renamedFor(propertyNamesIn(raw), dialect);
  const nameOf = (name: string): string => renamed.get(name) ?? name;
  const reading: Reading = {
    document: openDocument(raw),
    dialect,
    spent,
    report,
    active: new Set(),
    visited: new Set(),
    cycles: new Map(),
    containers: new Map(),
    names: new Map(),
    nameOf,
    read: (spot: Spot, nesting: number, isRoot = false) => readSchema(spot, nesting, isRoot, reading),
  };
  const shape = reading.read(reading.document.root, 0, true);
  reportDefinitions(reading);
  reportRenamed(reading.names, renamed, report);
  const schema = writeRoot(shape, { dialect, spent: nothingSpent(), report, nameOf });
  checkWritten(schema);
  freeze(schema);
  return { schema, restore: restoring(reading.document, renamed) };
}

/** Freezes a value, because all callers share it and none of them may change it. */
function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const member of Object.values(value)) freeze(member);
}

/** Compiles schemas for one model's API, and caches the results. */
export interface SchemaCompiler {
  compile(raw: unknown): CompiledSchema;
  /** The number of schemas compiled so far. Results from the cache do not count. */
  readonly compiled: number;
}

/**
 * Maximum number of cached results. The largest catalogs need fewer. If there are more, the oldest result is dropped.
 */
const mostRemembered = 20_000;

/** Creates a compiler with an empty cache. Default dialect: Gemini's. */
export function createSchemaCompiler(dialect: SchemaDialect = "gemini"): SchemaCompiler {
  const byContent = new Map<string, CompiledSchema>();
  let compiled = 0;
  return {
    get compiled() {
      return compiled;
    },
    compile(raw) {
      return orQuarantined(() => {
        // The cache key is a digest of the JSON text. Its keys are not sorted: the order of properties matters to a
        // model.
        const key = hash("sha256", textOf(raw), "base64");
        const cached = byContent.get(key);
        if (cached !== undefined) return cached;
        compiled += 1;
        const result = compileSafe(raw, dialect);
        byContent.set(key, result);
        if (byContent.size > mostRemembered) byContent.delete(byContent.keys().next().value ?? "");
        return result;
      });
    },
  };
}
