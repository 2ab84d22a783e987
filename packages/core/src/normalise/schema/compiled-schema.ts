/** What comes out of compiling a schema: one that a model's API takes, with a report of what had to change, or the reason why there is none. */

import type { JsonObject } from "@fairlead/wire";

export type SchemaDialect = "gemini" | "openai" | "json-schema-2020-12";

/**
 * `added`: was not there; `removed`: left out, with everything below it; `moved`: said in the description instead;
 * `merged`: folded into the schema around it; `rewritten`: said in other keywords; `renamed`: a property under another name.
 */
export type RepairAction = "added" | "removed" | "moved" | "merged" | "rewritten" | "renamed";

/** One change that was needed to make the schema of a tool acceptable for the API of a model. */
export interface Repair {
  /** JSON pointer into the raw schema; `path` + `/` + `keyword` is what changed. */
  readonly path: string;
  readonly keyword: string;
  readonly action: RepairAction;
  /** One short sentence for a person. What it quotes is the server's own text: raw. */
  readonly note: string;
}

export type CompiledSchema =
  | {
      readonly kind: "compiled";
      readonly schema: JsonObject;
      readonly repairs: readonly Repair[];
      /** Arguments as the model gave them → as the server calls them. The same object where nothing was renamed. */
      readonly restore: (args: JsonObject) => JsonObject;
    }
  | { readonly kind: "quarantined"; readonly reason: string };
