/**
 * The result of compiling a schema: a schema that the model's API accepts, with its repairs, or the reason why the tool
 * is quarantined.
 */

import type { JsonObject } from "@fairlead/wire";

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
