/** A tool as a person reads it: `name(required: type, optional?: type = default)`, and a call to start from. */

import type { HostTool } from "@fairlead/core/host";
import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";

interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly schema: ReadonlyMap<string, unknown>;
}

export function signature({ serverToolName, parametersJsonSchema }: HostTool): SafeText {
  const parameters = parametersOf(parametersJsonSchema).map(({ name, required, schema }) => {
    const fallback = schema.get("default");
    const optional = required ? safe`` : safe`?`;
    const ending = fallback === undefined ? safe`` : safe` = ${toSafeLine(JSON.stringify(fallback))}`;
    return safe`${toSafeLine(name)}${optional}: ${toSafeLine(typeWords(schema))}${ending}`;
  });
  return safe`${toSafeLine(serverToolName)}(${joinSafe(parameters, safe`, `)})`;
}

/** The words after `fairlead call`: the target and what must be given, with sample values. */
export function exampleCall({ server, serverToolName, parametersJsonSchema }: HostTool): SafeText {
  const words = parametersOf(parametersJsonSchema).flatMap(({ name, required, schema }) =>
    required ? [toShellWord(exampleWord(name, schema))] : [],
  );
  return toSafeLine([toShellWord(`${server}.${serverToolName}`), ...words].join(" "));
}

/** Required parameters first, in the order the server gave them. */
function parametersOf(schema: object): readonly Parameter[] {
  const keywords = fieldsOf(schema);
  const required = new Set(listOf(keywords.get("required")));
  const parameters = [...fieldsOf(keywords.get("properties"))].map(([name, property]) => ({
    name,
    required: required.has(name),
    schema: fieldsOf(property),
  }));
  return [
    ...parameters.filter((parameter) => parameter.required),
    ...parameters.filter((parameter) => !parameter.required),
  ];
}

const mostChoices = 6;

function typeWords(schema: ReadonlyMap<string, unknown>): string {
  const choices = schema.has("const") ? [schema.get("const")] : listOf(schema.get("enum"));
  if (choices.length > 0) {
    const shown = choices.slice(0, mostChoices).map((choice) => JSON.stringify(choice));
    return [...shown, ...(choices.length > mostChoices ? ["…"] : [])].join(" | ");
  }
  const types = [schema.get("type")].flat().filter((type) => typeof type === "string");
  if (types.length === 1 && types[0] === "array") return arrayWords(fieldsOf(schema.get("items")).get("type"));
  return types.length === 0 ? "any" : types.join(" | ");
}

function arrayWords(type: unknown): string {
  return typeof type === "string" ? `${type}[]` : "array";
}

function exampleWord(name: string, schema: ReadonlyMap<string, unknown>): string {
  const [sample] = [...listOf(schema.get("examples")), ...listOf(schema.get("enum"))];
  if (typeof sample === "string") return `${name}=${sample}`;
  if (sample !== undefined) return `${name}:=${JSON.stringify(sample)}`;
  switch (schema.get("type")) {
    case "integer":
    case "number":
      return `${name}=1`;
    case "boolean":
      return `${name}=true`;
    case "array":
      return `${name}=[]`;
    case "object":
      return `${name}={}`;
    default:
      return `${name}=text`;
  }
}

function fieldsOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(typeof value === "object" && value !== null ? Object.entries(value) : []);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
