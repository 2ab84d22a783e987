/**
 * Describes a tool for a model in one line, with the tool's signature and the first sentence of its description. Pure.
 */

import { clip } from "@fairlead/wire/text";
import { toLabel } from "../normalise/content/shorten.ts";
import type { FunctionDeclaration } from "../normalise/model-types.ts";
import { parametersOf } from "../normalise/schema/properties.ts";
import { createTypeWriter, fold, toKey } from "../normalise/schema/write/type-text.ts";

const limits = { depth: 1, members: 6, parts: 60 };
const mostOptional = 8;
const longestSentence = 160;

/**
 * Returns a line such as `read(path: string, …+9) - Reads a file.` Lists all required parameters, and optional ones up
 * to about 8 in total; `…+9` is the number of the others.
 */
export function toolSignature({
  name,
  description,
  parameters: schema,
}: Pick<FunctionDeclaration, "name" | "description"> & { readonly parameters: unknown }): string {
  const parameters = parametersOf(schema);
  const required = parameters.filter((parameter) => parameter.required).length;
  const typeOf = createTypeWriter(schema, limits);
  const list = fold(parameters, Math.max(required, mostOptional), (parameter) => {
    return `${toKey(parameter.name)}${parameter.required ? "" : "?"}: ${typeOf(parameter.schema)}`;
  });
  const sentence = firstSentence(description);
  return `${toLabel(`${name}(${list.join(", ")})`)}${sentence === "" ? "" : ` - ${sentence}`}`;
}

function firstSentence(description: string): string {
  const line = toLabel(description).trim();
  const [, sentence = line] = /^(.{8,}?[.!?。！？])(?:\s|$)/su.exec(line) ?? [];
  return clip(sentence, longestSentence);
}
