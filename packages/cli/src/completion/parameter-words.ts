/** The arguments of a tool as they are typed, `key=value`, offered from what its schema says. Pure. */

import { resolved } from "@fairlead/core/normalise/schema/pointer";
import { type Property, parametersOf } from "@fairlead/core/normalise/schema/properties";
import { createTypeWriter } from "@fairlead/core/normalise/schema/write/type-text";
import { isShallow, member } from "@fairlead/wire/json";
import { shapesOf, type ValueShape } from "../arguments/value-shape.ts";
import { type CompletionAnswer, type Suggestion, toWords } from "./answer.ts";

/** What a line of a list has room for. */
const glimpse = { depth: 1, members: 4, parts: 50 };
/** A server may list any number of values. */
const mostValues = 500;

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

/** A name that the command would read as another one can only be given with `--args`. */
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
  // After a plain `=` it would be taken for the name of a file.
  return value.startsWith("@") ? [] : [value];
}

function isList({ types }: ValueShape): boolean {
  return types.has("array");
}
