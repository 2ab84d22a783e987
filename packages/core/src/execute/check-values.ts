/** Validates arguments and results of calls against the tool's schemas, and describes the mistakes. */

import type { JsonObject, ToolResult } from "@fairlead/wire";
import { listOf, objectOf } from "@fairlead/wire/json";
import { clip, errorMessage } from "@fairlead/wire/text";
import { HostError } from "../errors.ts";
import { argumentSchema } from "../normalise/schema/argument-schema.ts";
import { stepsOf } from "../normalise/schema/pointer.ts";
import type { CatalogTool } from "../server/catalog.ts";
import { closest } from "../text/closest.ts";
import { toShellWord } from "../text/shell-word.ts";
import type { Issue, Validation } from "./validation/validation.ts";
import type { Validator } from "./validation/validator.ts";

/** The arguments to send. The warnings name arguments that were not checked or were left out. */
export interface CheckedArguments {
  readonly args: JsonObject;
  readonly warnings: readonly string[];
}

/**
 * Checks the arguments. If an optional argument is null and its schema does not accept null, the argument is left out,
 * because models write null for "no value".
 *
 * @throws HostError `arguments_invalid`, naming the first five mistakes
 */
export function checkArguments(
  serverName: string,
  tool: CatalogTool,
  args: JsonObject,
  validator: Pick<Validator, "validate">,
  signal: AbortSignal,
): CheckedArguments | Promise<CheckedArguments> {
  const first = validateArguments(validator, tool.inputSchema, args, signal);
  if (!(first instanceof Promise) && first.issues.length === 0) return { args, warnings: first.warnings };
  return withoutNulls(first, serverName, tool, args, validator, signal);
}

/** Validates arguments. A missing property that has a default is no issue: the server fills in the default. */
export function validateArguments(
  validator: Pick<Validator, "validate">,
  inputSchema: JsonObject,
  args: JsonObject,
  signal: AbortSignal,
): Validation | Promise<Validation> {
  const first = validator.validate(inputSchema, args, signal);
  if (!(first instanceof Promise) && first.issues.length === 0) return first;
  const schema = argumentSchema(inputSchema);
  if (schema === inputSchema) return first;
  return withOptionalDefaults(first, () => validator.validate(schema, args, signal));
}

/** Validates again, with optional defaults, what the input schema itself refuses. */
async function withOptionalDefaults(
  first: Validation | Promise<Validation>,
  validateAgain: () => Validation | Promise<Validation>,
): Promise<Validation> {
  const strict = await first;
  if (strict.issues.length === 0) return strict;
  const { issues, warnings } = await validateAgain();
  // Without the missing property, the arguments may match several forms of a `oneOf`. The server knows which one it is.
  const isNew = (issue: Issue): boolean => !strict.issues.some((other) => isSameIssue(issue, other));
  return { issues: issues.filter((issue) => !matchesSeveral(issue) || !isNew(issue)), warnings };
}

/** Whether the arguments match several forms of a `oneOf`. If they match none, `passingSchemas` is null. */
function matchesSeveral({ keyword, params }: Issue): boolean {
  return keyword === "oneOf" && Array.isArray(params["passingSchemas"]);
}

function isSameIssue(a: Issue, b: Issue): boolean {
  return a.path === b.path && a.message === b.message;
}

async function withoutNulls(
  first: Validation | Promise<Validation>,
  serverName: string,
  tool: CatalogTool,
  args: JsonObject,
  validator: Pick<Validator, "validate">,
  signal: AbortSignal,
): Promise<CheckedArguments> {
  const { issues, warnings } = await first;
  if (issues.length === 0) return { args, warnings };
  const nulls = optionalNulls(issues, argumentSchema(tool.inputSchema), args);
  if (nulls.length > 0) {
    const rest = Object.fromEntries(Object.entries(args).filter(([name]) => !nulls.includes(name)));
    const second = await validateArguments(validator, tool.inputSchema, rest, signal);
    const note = `left out, because the tool does not accept null: ${nulls.map((name) => written([name])).join(", ")}`;
    if (second.issues.length === 0) return { args: rest, warnings: [...second.warnings, note] };
  }
  const wrong = describeIssues(issues, { schema: tool.inputSchema, value: args, whole: "the arguments" });
  throw new HostError("arguments_invalid", `${serverName}.${tool.name} has invalid arguments: ${wrong}`, {
    serverName,
    next: `fairlead tools ${toShellWord(serverName)}`,
  });
}

/** Optional arguments that are null although the schema forbids null. Empty if the arguments have any other mistake. */
function optionalNulls(issues: readonly Issue[], { required }: JsonObject, args: JsonObject): readonly string[] {
  const names = issues.flatMap(({ path }) => {
    const [name = "", ...deeper] = stepsOf(path);
    const isOptionalNull = deeper.length === 0 && args[name] === null && !listOf(required).includes(name);
    return isOptionalNull ? [name] : [];
  });
  return names.length === issues.length ? [...new Set(names)] : [];
}

/** Checks a result. Returns only warnings, because the tool has already run. Never rejects. */
export async function checkOutput(
  { isError, structuredContent }: Pick<ToolResult, "isError" | "structuredContent">,
  { outputSchema }: Pick<CatalogTool, "outputSchema">,
  validator: Pick<Validator, "validate">,
): Promise<readonly string[]> {
  if (outputSchema === undefined || isError) return [];
  if (structuredContent === undefined)
    return ["the tool declares an outputSchema, but its result has no structured content"];
  try {
    const { issues, warnings } = await validator.validate(outputSchema, structuredContent);
    if (issues.length === 0) return warnings;
    const wrong = describeIssues(issues, { schema: outputSchema, value: structuredContent, whole: "it" });
    return [...warnings, `the result does not match the tool's outputSchema: ${wrong}`];
  } catch (error) {
    const why = errorMessage(error);
    return [`the result was not checked against the tool's outputSchema: ${why}`];
  }
}

/** Maximum number of issues that one message lists. */
const mostShown = 5;
const longestName = 100;

interface Validated {
  readonly schema: JsonObject;
  readonly value: unknown;
  /** A name for the whole value, such as "the arguments". */
  readonly whole: string;
}

/** Describes the first five issues in one line, separated by semicolons. */
export function describeIssues(issues: readonly Issue[], validated: Validated): string {
  const shown = issues.slice(0, mostShown).map((issue) => describe(issue, validated));
  const more = issues.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

function describe({ path, message, keyword }: Issue, validated: Validated): string {
  const steps = stepsOf(path);
  if (steps.length === 0) return `${validated.whole} ${message}`;
  const hint = meant(keyword, steps, validated);
  return `${written(steps)} ${message}${hint === undefined ? "" : ` (${hint})`}`;
}

/** Suggests the known name that is most similar to a misspelt one. */
function meant(keyword: string, steps: readonly string[], { schema, value }: Validated): string | undefined {
  const around = steps.slice(0, -1);
  const name = steps.at(-1) ?? "";
  const declaredNames = Object.keys(objectOf(schemaAt(schema, around)["properties"]));
  if (keyword === "required") {
    const strangers = Object.keys(objectOf(valueAt(value, around))).filter((given) => !declaredNames.includes(given));
    const near = closest(name, strangers);
    return near === undefined ? undefined : `did you misspell it as ${written([...around, near])}?`;
  }
  if (keyword !== "additionalProperties" && keyword !== "unevaluatedProperties") return undefined;
  const near = closest(name, declaredNames);
  return near === undefined ? undefined : `did you mean ${written([...around, near])}?`;
}

/** Writes a path as in JavaScript: `"list[0].name"`. */
function written(steps: readonly string[]): string {
  const [first = "", ...rest] = steps;
  const path = rest.reduce((before, step) => before + (/^\d+$/.test(step) ? `[${step}]` : `.${step}`), first);
  return `"${clip(path, longestName)}"`;
}

/** The subschema at a path. Follows only `properties` and `items`. */
function schemaAt(schema: JsonObject, steps: readonly string[]): JsonObject {
  return steps.reduce((at, step) => {
    const properties = objectOf(at["properties"]);
    return objectOf(Object.hasOwn(properties, step) ? properties[step] : at["items"]);
  }, schema);
}

function valueAt(value: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>((at, step) => {
    if (Array.isArray(at)) return at[Number(step)];
    const members = objectOf(at);
    return Object.hasOwn(members, step) ? members[step] : undefined;
  }, value);
}
