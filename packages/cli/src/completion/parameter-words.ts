/** Completes `key=value` arguments from a tool's input schema. Pure functions. */

import { resolved } from "@fairlead/core/normalise/schema/pointer";
import { type Property, parametersOf } from "@fairlead/core/normalise/schema/properties";
import { createTypeWriter } from "@fairlead/core/normalise/schema/write/type-text";
import { isShallow, member } from "@fairlead/wire/json";
import { shapesOf, type ValueShape } from "../arguments/value-shape.ts";
import { type CompletionAnswer, type Suggestion, toWords } from "./answer.ts";

/** Limits for the text that describes a parameter's type, so that the text fits into one line of the suggestions. */
const glimpse = { depth: 1, members: 4, parts: 50 };
/** Maximum number of suggested values, because a server may list any number of enum values. */
const mostValues = 500;

/**
 * Suggests `key=` for lists and for parameters not yet given. After `=`, suggests the parameter's values. After `=@`,
 * suggests files.
 */
export function suggestParameters(inputSchema: unknown, given: readonly string[], current: string): CompletionAnswer {
  const parameters = parametersOf(inputSchema);
  const [, key, sign = "", text = ""] = /^(.*?)(:?=)(.*)$/s.exec(current) ?? [];
  if (key === undefined) return toWords(suggestNames(parameters, inputSchema, given));
  if (text.startsWith("@")) return { kind: "files", prefix: `${key}${sign}@` };
  const schema = parameters.find(({ name }) => name === key)?.schema;
  const values = valuesOf(schema, inputSchema).slice(0, mostValues);
  return toWords(
    values.flatMap((value) => toWritten(value, sign === ":=")).map((value) => ({ value: `${key}${sign}${value}` })),
  );
}

function suggestNames(
  parameters: readonly Property[],
  inputSchema: unknown,
  given: readonly string[],
): readonly Suggestion[] {
  const typeOf = createTypeWriter(inputSchema, glimpse);
  return parameters.filter(isWritable).flatMap(({ name, required, schema }) => {
    const isGiven = given.some((word) => word.startsWith(`${name}=`) || word.startsWith(`${name}:=`));
    if (isGiven && !shapesOf(schema, inputSchema).some(isList)) return [];
    const said = member(resolved(schema, inputSchema), "description");
    const about = [typeOf(schema), ...(required ? ["required"] : []), ...(typeof said === "string" ? [said] : [])];
    return { value: `${name}=`, about: about.join(", "), isOpen: true };
  });
}

/** Whether the parameter can be typed as `key=value`. Otherwise the user must pass it with `--args`. */
function isWritable({ name }: Property): boolean {
  return !name.includes("=") && !name.endsWith(":");
}

function valuesOf(schema: unknown, root: unknown): readonly unknown[] {
  const shapes = shapesOf(schema, root);
  const inner = shapes.filter(isList).flatMap(({ items }) => shapesOf(items, root));
  return [...new Set([...shapes, ...inner].flatMap(listed))];
}

function listed({ types, values }: ValueShape): readonly unknown[] {
  if (values) return values;
  return types.has("boolean") ? [true, false] : [];
}

function toWritten(value: unknown, isJson: boolean): readonly string[] {
  if (typeof value === "object" && value !== null && !(isJson && isShallow(value))) return [];
  if (isJson || typeof value !== "string") return [JSON.stringify(value)];
  // A value that starts with "@" is not suggested, because after `=` it would name a file.
  return value.startsWith("@") ? [] : [value];
}

function isList({ types }: ValueShape): boolean {
  return types.has("array");
}
