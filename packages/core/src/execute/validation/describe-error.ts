/** Describes the validator's errors in plain words. */

import type { JsonObject } from "@fairlead/wire";
import { clip } from "@fairlead/wire/text";
import type { ErrorObject } from "ajv";
import { pointerTo } from "../../normalise/schema/pointer.ts";
import type { Issue } from "./validation.ts";

const maxIssues = 20;
/**
 * Maximum number of Ajv errors to read. It is higher than `maxIssues`, because all errors of one `anyOf` become one
 * issue.
 */
const maxErrors = 1000;
const maxMessage = 300;
const maxPath = 1000;
const maxList = 100;

interface Found {
  readonly issue: Issue;
  /** The schema that contains the violated keyword. */
  readonly parent: unknown;
}

const wordsForType = new Map([
  ["array", "an array"],
  ["boolean", "true or false"],
  ["integer", "an integer"],
  ["null", "null"],
  ["number", "a number"],
  ["object", "an object"],
  ["string", "a string"],
]);

/** Converts the validator's errors to issues. */
export function toIssues(errors: readonly ErrorObject[]): readonly Issue[] {
  const found: Found[] = [];
  for (const error of errors.slice(0, maxErrors)) {
    if (isEcho(error)) continue;
    const inner = ["anyOf", "oneOf", "contains", "not"].includes(error.keyword) ? takeInner(found, error) : [];
    const issue = {
      path: clip(pathOf(error), maxPath),
      message: clip(messageFor(error, inner), maxMessage),
      keyword: error.keyword,
      params: bounded(error.params),
    };
    found.push({ issue, parent: error.parentSchema });
  }
  const different = new Map(found.map(({ issue }) => [`${issue.path} ${issue.message}`, issue]));
  return [...different.values()].slice(0, maxIssues);
}

/**
 * Whether to drop the error because another error describes the same mistake better. For example, the error of `then`
 * says more than the error of `if`.
 */
function isEcho({ keyword, params, propertyName }: ErrorObject): boolean {
  if (keyword === "propertyNames") return false;
  return keyword === "if" || propertyName !== undefined || (keyword === "oneOf" && !("passingSchemas" in params));
}

/**
 * Removes the errors of inner schemas (such as the alternatives of `anyOf`) from the end of the list. Returns their
 * issues.
 */
function takeInner(found: Found[], { instancePath, parentSchema }: ErrorObject): readonly Issue[] {
  const before = found.findLastIndex(
    ({ issue: { path }, parent }) =>
      (path !== instancePath && !path.startsWith(`${instancePath}/`)) || parent === parentSchema,
  );
  return found.splice(before + 1).map(({ issue }) => issue);
}

function pathOf({ instancePath, keyword, params }: ErrorObject): string {
  const name = subjects.get(keyword);
  return name === undefined ? instancePath : pointerTo(instancePath, String(params[name]));
}

/** Keywords whose errors concern one property, with the error parameter that contains the property's name. */
const subjects = new Map([
  ["required", "missingProperty"],
  ["additionalProperties", "additionalProperty"],
  ["unevaluatedProperties", "unevaluatedProperty"],
]);

type Params = Readonly<Record<string, unknown>>;

const messages = new Map<string, (params: Params) => string>([
  ["required", () => "is missing"],
  ["additionalProperties", () => "is not a known property"],
  ["unevaluatedProperties", () => "is not a known property"],
  ["type", ({ type }) => `must be ${anyOf([type].flat().map(String))}`],
  ["enum", ({ allowedValues }) => `is not one of: ${list(allowedValues)}`],
  ["const", ({ allowedValue }) => `must be ${show(allowedValue)}`],
  ["minimum", ({ limit }) => `must be at least ${show(limit)}`],
  ["maximum", ({ limit }) => `must be at most ${show(limit)}`],
  ["exclusiveMinimum", ({ limit }) => `must be more than ${show(limit)}`],
  ["exclusiveMaximum", ({ limit }) => `must be less than ${show(limit)}`],
  ["multipleOf", ({ multipleOf }) => `must be a multiple of ${show(multipleOf)}`],
  ["minLength", ({ limit }) => `must have at least ${count(limit, "character")}`],
  ["maxLength", ({ limit }) => `must have at most ${count(limit, "character")}`],
  ["pattern", ({ pattern }) => `must match the pattern ${clip(String(pattern), 100)}`],
  ["minItems", ({ limit }) => `must have at least ${count(limit, "item")}`],
  ["maxItems", ({ limit }) => `must have at most ${count(limit, "item")}`],
  ["items", ({ limit }) => `must have at most ${count(limit, "item")}`],
  ["additionalItems", ({ limit }) => `must have at most ${count(limit, "item")}`],
  ["unevaluatedItems", ({ limit }) => `must have at most ${count(limit, "item")}`],
  ["uniqueItems", ({ i, j }) => `must not have the same item twice (at indexes ${show(j)} and ${show(i)})`],
  [
    "contains",
    ({ minContains }) => `must have at least ${count(minContains ?? 1, "item")} matching the contains schema`,
  ],
  ["minProperties", ({ limit }) => `must have at least ${count(limit, "property")}`],
  ["maxProperties", ({ limit }) => `must have at most ${count(limit, "property")}`],
  ["propertyNames", ({ propertyName }) => `has a property whose name is not allowed: ${show(propertyName)}`],
  ["dependencies", needs],
  ["dependentRequired", needs],
  ["not", () => 'must not match the schema in "not"'],
  ["false schema", () => "is not allowed"],
]);

function messageFor({ keyword, instancePath, params }: ErrorObject, inner: readonly Issue[]): string {
  if (keyword === "anyOf" || keyword === "oneOf") return unionMessage(instancePath, params, inner);
  return messages.get(keyword)?.(params) ?? `does not satisfy "${clip(keyword, 40)}"`;
}

function unionMessage(path: string, params: Params, inner: readonly Issue[]): string {
  if (Array.isArray(params["passingSchemas"]))
    return "matches more than one of the allowed forms and must match exactly one";
  if (inner.length > 0 && inner.every((issue) => issue.keyword === "type" && issue.path === path))
    return `must be ${anyOf(inner.flatMap(({ params: { type } }) => [type].flat().map(String)))}`;
  const reasons = inner.slice(0, 3).map((issue) => `${issue.path.slice(path.length)} ${issue.message}`.trim());
  return `matches none of the allowed forms${reasons.length > 0 ? ` (${reasons.join("; ")})` : ""}`;
}

function needs({ property, deps }: Params): string {
  return `needs ${clip(String(deps), 100)} as well, because ${show(property)} is given`;
}

function anyOf(types: readonly string[]): string {
  const words = [...new Set(types)].map((type) => wordsForType.get(type) ?? type);
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} or ${words.at(-1)}` : (words[0] ?? "something else");
}

function list(values: unknown): string {
  const items = Array.isArray(values) ? values : [];
  const shown = items.slice(0, 10).map((item) => (typeof item === "string" ? clip(item, 40) : show(item)));
  return items.length > shown.length ? `${shown.join(", ")}, … (${items.length} in all)` : shown.join(", ");
}

function count(limit: unknown, thing: "character" | "item" | "property"): string {
  const many = thing === "property" ? "properties" : `${thing}s`;
  return `${show(limit)} ${limit === 1 ? thing : many}`;
}

function show(value: unknown): string {
  return clip(String(JSON.stringify(value)), 60);
}

/** Shortens long texts and lists in an error's parameters. A hostile schema could make them huge. */
function bounded(params: Params): JsonObject {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => {
      if (typeof value === "string") return [name, clip(value, maxPath)];
      return [name, Array.isArray(value) ? value.slice(0, maxList) : value];
    }),
  );
}
