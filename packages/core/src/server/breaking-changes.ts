/** Finds changes of a tool definition that can break its callers. A changed description breaks nothing. Pure. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, listOf, objectOf } from "@fairlead/wire/json";
import { canonicalJson } from "../text/canonical-json.ts";
import { isSameJson } from "../text/same-json.ts";
import type { CatalogTool } from "./catalog.ts";

/**
 * The reasons why earlier calls can fail after the change, one sentence each. A change of the input schema that this
 * function cannot interpret counts as breaking.
 */
export function breakingChanges(before: CatalogTool, after: CatalogTool): readonly string[] {
  return [
    ...inputChanges("", before.inputSchema, after.inputSchema, 0),
    ...outputChanges(before.outputSchema, after.outputSchema),
  ];
}

/** JSON Schema keywords that only describe a value and restrict nothing. */
const words: ReadonlySet<string> = new Set(
  "title description examples default $comment $schema $id deprecated readOnly writeOnly x-mcp-header".split(" "),
);
/** JSON Schema keywords that `keywordChanges` does not compare, because other functions do. */
const compared: ReadonlySet<string> = new Set("type enum properties required additionalProperties items".split(" "));
/** Numeric limits, with the direction of a harmless change (`maximum` may go up). */
const bounds: ReadonlyMap<string, "up" | "down"> = new Map([
  ...["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"].map((name) => [name, "up"] as const),
  ...["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"].map((name) => [name, "down"] as const),
]);
const deepest = 20;

/** Finds changes of the input schema that make valid arguments invalid. */
function inputChanges(path: string, before: unknown, after: unknown, level: number): readonly string[] {
  if (isSameJson(before, after) || after === true || before === false) return [];
  const subject = path === "" ? "the arguments" : `the parameter ${path}`;
  if (!isObject(before) || !isObject(after) || level > deepest) return [`${subject}: the schema has changed`];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const others = names.filter((name) => !words.has(name) && !compared.has(name));
  return [
    ...typeChanges(subject, before, after),
    ...enumChanges(subject, before, after),
    ...memberChanges(path, before, after, level),
    ...(before["items"] === undefined && after["items"] === undefined
      ? []
      : inputChanges(`${path}[]`, before["items"] ?? true, after["items"] ?? true, level + 1)),
    ...others.flatMap((name) => keywordChanges(subject, name, before[name], after[name])),
  ];
}

function typeChanges(subject: string, before: JsonObject, after: JsonObject): readonly string[] {
  if (after["type"] === undefined) return [];
  const [old, now] = [typesOf(before), typesOf(after)];
  const isWider = (type: unknown): boolean => now.includes(type) || (type === "integer" && now.includes("number"));
  if (old.length > 0 && old.every(isWider)) return [];
  return [`${subject}: the type was ${old.join(" or ") || "any"} and is now ${now.join(" or ")}`];
}

function typesOf({ type }: JsonObject): readonly unknown[] {
  return Array.isArray(type) ? type : type === undefined ? [] : [type];
}

function enumChanges(subject: string, before: JsonObject, after: JsonObject): readonly string[] {
  if (after["enum"] === undefined) return [];
  if (before["enum"] === undefined)
    return [`${subject}: only these values are allowed now: ${canonicalJson(after["enum"])}`];
  const allowed = new Set(listOf(after["enum"]).map(canonicalJson));
  const removed = listOf(before["enum"])
    .map(canonicalJson)
    .filter((value) => !allowed.has(value));
  return removed.length === 0 ? [] : [`${subject}: ${removed.join(", ")} is no longer allowed`];
}

function memberChanges(path: string, before: JsonObject, after: JsonObject, level: number): readonly string[] {
  const [old, now] = [objectOf(before["properties"]), objectOf(after["properties"])];
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
  const wasRequired = new Set(listOf(before["required"]));
  const required = listOf(after["required"]).filter((name) => !wasRequired.has(name));
  const isClosed = after["additionalProperties"] === false && before["additionalProperties"] !== false;
  return [
    ...required.map((name) => `the parameter ${at(String(name))} is now required`),
    ...Object.keys(old).flatMap((name) =>
      Object.hasOwn(now, name)
        ? inputChanges(at(name), old[name], now[name], level + 1)
        : [`the parameter ${at(name)} was removed`],
    ),
    ...(isClosed
      ? [`${path === "" ? "the tool" : path} no longer accepts parameters that the schema does not list`]
      : []),
    ...(isObject(after["additionalProperties"])
      ? inputChanges(at("*"), before["additionalProperties"] ?? true, after["additionalProperties"], level + 1)
      : []),
  ];
}

/** Describes a JSON Schema keyword whose restriction is new or stricter. An unknown keyword counts as a restriction. */
function keywordChanges(subject: string, name: string, before: unknown, after: unknown): readonly string[] {
  if (after === undefined || isSameJson(before, after)) return [];
  const direction = bounds.get(name);
  if (direction !== undefined && typeof before === "number" && typeof after === "number")
    if (direction === "up" ? after >= before : after <= before) return [];
  const was = before === undefined ? "" : ` (it was ${canonicalJson(before)})`;
  return [`${subject}: ${name} is now ${canonicalJson(after)}${was}`];
}

/** Finds changes of the output schema that can break callers. */
function outputChanges(before: JsonObject | undefined, after: JsonObject | undefined): readonly string[] {
  if (before === undefined || isSameJson(before, after)) return [];
  if (after === undefined) return ["the result no longer has structured content"];
  const [old, now] = [objectOf(before["properties"]), objectOf(after["properties"])];
  const stillRequired = new Set(listOf(after["required"]));
  const optional = listOf(before["required"]).filter(
    (name) => Object.hasOwn(now, String(name)) && !stillRequired.has(name),
  );
  return [
    ...Object.keys(old).flatMap((name) => {
      if (!Object.hasOwn(now, name)) return [`the result no longer has ${name}`];
      // The schemas are swapped: for a result, a schema that allows more values than before breaks the caller.
      return inputChanges(name, now[name], old[name], 0).length === 0 ? [] : [`${name} of the result has changed`];
    }),
    ...optional.map((name) => `the result may lack ${String(name)}`),
  ];
}
