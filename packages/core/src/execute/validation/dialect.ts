/** Finds the JSON Schema dialect of a schema. */

import type { JsonObject } from "@fairlead/wire";
import { clip } from "@fairlead/wire/text";

/** The two dialects that the validator supports. Older dialects are converted to these. */
export type Dialect = "draft-07" | "2020-12";

const known: readonly (readonly [RegExp, Dialect])[] = [
  [/^https?:\/\/json-schema\.org\/draft-0[3-7]\//, "draft-07"],
  [/^https?:\/\/json-schema\.org\/draft\/(?:2019-09|2020-12|next)\//, "2020-12"],
  [/^https?:\/\/json-schema\.org\/schema/, "2020-12"],
];

/** The dialect of a schema: 2020-12 unless `$schema` names another, as the protocol specifies. */
export function dialectOf({ $schema }: JsonObject): { readonly dialect: Dialect; readonly warning?: string } {
  if (typeof $schema !== "string") return { dialect: "2020-12" };
  const found = known.find(([pattern]) => pattern.test($schema));
  if (found !== undefined) return { dialect: found[1] };
  return {
    dialect: "2020-12",
    warning: `its schema is written for ${clip($schema, 100)}, an unknown dialect; it was read as JSON Schema 2020-12`,
  };
}
