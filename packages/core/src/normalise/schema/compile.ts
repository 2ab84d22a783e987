/** Compiles a tool's schema for a model's API. Pure: equal schemas give equal results, and nothing is fetched. */

import { hash } from "node:crypto";
import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { HostError } from "../../errors.ts";
import { withOptionalDefaults } from "./argument-schema.ts";
import { modernise } from "./dialects/json-schema-2020-12.ts";
import { openDocument, type Spot } from "./document.ts";
import { quote } from "./json-values.ts";
import { checkWritten, nothingSpent, textOf } from "./read/bounds.ts";
import { readSchema, reportDefinitions } from "./read/read.ts";
import type { ModelDialect, Reading, Report } from "./schema-node.ts";
import { propertyNamesIn, renamedFor, reportRenamed, restoring, unchanged } from "./write/property-names.ts";
import { writeRoot } from "./write/write.ts";

/** Compiles a schema, or returns the reason why it is quarantined. */
export function compileSchema(raw: unknown, dialect: SchemaDialect): CompiledSchema {
  return orQuarantined(() => {
    textOf(raw);
    return compileSafe(raw, dialect);
  });
}

/** Compiles a schema whose size has been checked. */
function compileSafe(raw: unknown, dialect: SchemaDialect): CompiledSchema {
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
function orQuarantined(compile: () => CompiledSchema): CompiledSchema {
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

/** The schema language of a model's API. */
export type SchemaDialect = "gemini" | "openai" | "anthropic" | "json-schema-2020-12";

/**
 * How a repair changes a schema. `added`: the keyword is new. `removed`: the keyword is left out. `moved`: the
 * rule is now in the description or in each alternative. `merged`: the schema is combined with the schema around it.
 * `rewritten`: other keywords express the rule. `renamed`: the property has a new name.
 */
export type RepairAction = "added" | "removed" | "moved" | "merged" | "rewritten" | "renamed";

/** One change that makes a tool's schema acceptable for the model's API. */
export interface Repair {
  /** JSON pointer to the changed part of the server's schema. `keyword` is the changed member of that part. */
  readonly path: string;
  readonly keyword: string;
  readonly action: RepairAction;
  /** One short sentence for the user. Quoted texts come from the server and are not escaped. */
  readonly note: string;
}

/** A compiled schema, or the reason for quarantine. */
export type CompiledSchema =
  | {
      readonly kind: "compiled";
      readonly schema: JsonObject;
      readonly repairs: readonly Repair[];
      /**
       * Converts arguments from the model's property names to the server's property names. Returns `args` itself if no
       * name differs.
       */
      readonly restore: (args: JsonObject) => JsonObject;
    }
  | { readonly kind: "quarantined"; readonly reason: string };

/**
 * Schemas in Gemini's `parametersJsonSchema`. Google's package documents the supported keywords at
 * `responseJsonSchema`.
 */
const gemini: ModelDialect = {
  name: "The Gemini API",
  knowsPrefixItems: true,
  /*
   * Google's types list more string formats, but older Gemini models reject them: "only 'enum' and 'date-time' are
   * supported for STRING type".
   */
  formats: { string: ["date-time"], number: ["float", "double"], integer: ["int32", "int64"] },
  /*
   * A property name has at most 64 letters, digits and underscores, and no digit at the start. Source: Google's types,
   * at `FunctionDeclaration.parameters`.
   */
  propertyName: /^[A-Za-z_][A-Za-z0-9_]{0,63}$/,
  longestName: 64,
};

/**
 * OpenAI-compatible endpoints. Local servers convert schemas to grammars and support different keywords, so Fairlead
 * writes only keywords that most of them support.
 */
const openai: ModelDialect = {
  name: "At least one OpenAI-compatible endpoint",
  knowsPrefixItems: false,
  formats: {},
  // OpenAI's rule for function names. The strictest endpoints also apply it to the names of properties.
  propertyName: /^[A-Za-z0-9_-]{1,64}$/,
  longestName: 64,
};

/**
 * Anthropic's API. It accepts draft 2020-12 with two exceptions that no schema may break: the root is one object without
 * `anyOf`, `oneOf` and `allOf`, and the names of properties are short. One schema that breaks them makes the API refuse
 * the whole request.
 */
const anthropic: ModelDialect = {
  name: "Anthropic's API",
  knowsPrefixItems: true,
  // The formats that Anthropic documents for its structured outputs.
  formats: {
    string: ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"],
  },
  // The pattern in the API's error: "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'".
  propertyName: /^[A-Za-z0-9_.-]{1,64}$/,
  longestName: 64,
};
