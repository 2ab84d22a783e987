/**
 * The result of compiling a schema: either a schema that the model's API accepts, with its repairs, or the reason for
 * quarantine.
 */

import type { JsonObject } from "@fairlead/wire";

/** The schema language of a model's API. */
export type SchemaDialect = "gemini" | "openai" | "json-schema-2020-12";

/**
 * The kind of a repair. `added`: a new keyword. `removed`: left out with its content. `moved`: written in the
 * description instead. `merged`: combined with the surrounding schema. `rewritten`: expressed with other keywords.
 * `renamed`: the property has another name.
 */
export type RepairAction = "added" | "removed" | "moved" | "merged" | "rewritten" | "renamed";

/** One change that makes a tool's schema acceptable for the model's API. */
export interface Repair {
  /**
   * JSON pointer into the schema as the server sent it. `path`, `/` and `keyword` together name the member that
   * changed.
   */
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
       * Converts arguments with the model's property names to the server's names. Returns the same object if no name
       * differs.
       */
      readonly restore: (args: JsonObject) => JsonObject;
    }
  | { readonly kind: "quarantined"; readonly reason: string };
