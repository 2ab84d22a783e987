/** Completion of prompt arguments and template variables. */

import { type JsonObject, WireError } from "@fairlead/wire";
import { objectOf } from "@fairlead/wire/json";
import { knots } from "./knots.ts";
import { audiences, promptName } from "./prompts.ts";
import { knotTemplate } from "./resources.ts";

/** What an argument can be, by the thing it belongs to and its name. */
const choices: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  [`ref/prompt ${promptName} knot`, [...knots.keys()]],
  [`ref/prompt ${promptName} audience`, audiences],
  [`ref/resource ${knotTemplate} name`, [...knots.keys()]],
]);

export function completeDemo({ ref, argument }: JsonObject): JsonObject {
  const [type, name, uri] = fields(ref, ["type", "name", "uri"]);
  const [argumentName, value = ""] = fields(argument, ["name", "value"]);
  const known = choices.get(`${type} ${type === "ref/prompt" ? name : uri} ${argumentName}`);
  if (!known) throw new WireError("rpc", "There is nothing of that name to complete", { rpc: { code: -32602 } });
  const values = known.filter((choice) => choice.startsWith(value));
  return { completion: { values, total: values.length, hasMore: false } };
}

function fields(value: unknown, names: readonly string[]): (string | undefined)[] {
  const entries = new Map<string, unknown>(Object.entries(objectOf(value)));
  return names.map((name) => {
    const field = entries.get(name);
    return typeof field === "string" ? field : undefined;
  });
}
