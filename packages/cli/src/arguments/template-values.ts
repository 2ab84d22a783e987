/** Expands a URI template with typed values; reports mistakes before anything is sent. Pure. */

import { HostError } from "@fairlead/core/errors";
import { whyHarmful } from "@fairlead/core/resources/references/resource-reference";
import { expandTemplate, parseTemplate } from "@fairlead/core/resources/templates/uri-template";
import { closest } from "@fairlead/core/text/closest";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { NamedValue } from "./named-values.ts";

export interface TemplateVariable {
  readonly name: string;
  /** False if the URI is still valid without this variable. */
  readonly required: boolean;
}

/** Returns the variables of a template; empty for other text. */
export function variablesOf(uriTemplate: string): readonly TemplateVariable[] {
  const template = parseTemplate(uriTemplate);
  if (template.kind === "malformed") return [];
  const needed = template.pieces.flatMap((piece) =>
    piece.kind === "expression" && (piece.operator === "" || piece.operator === "+") ? piece.variables : [],
  );
  return template.variables.map((name) => ({ name, required: needed.some((variable) => variable.name === name) }));
}

/** Expands the template; a repeated name becomes a list. @throws HostError `arguments_invalid` or `usage` */
export function fillTemplate(uriTemplate: string, given: readonly NamedValue[]): string {
  const variables = variablesOf(uriTemplate);
  const names = variables.map(({ name }) => name);
  const values = new Map<string, readonly string[]>();
  for (const [name, value] of given) {
    if (!names.includes(name))
      throw mistaken(`${uriTemplate} has no variable "${name}"${meant(name, names)}`, uriTemplate);
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  const missing = variables.flatMap(({ name, required }) => (required && !values.has(name) ? [`"${name}"`] : []));
  if (missing.length > 0) throw mistaken(`${uriTemplate} needs ${missing.join(", ")}`, uriTemplate);
  const entries = [...values].map(([name, [first, ...more]]) => [
    name,
    more.length === 0 ? first : [first ?? "", ...more],
  ]);
  const uri = expandTemplate(uriTemplate, Object.fromEntries(entries));
  const reason = whyHarmful(uri);
  if (reason !== undefined) throw new HostError("usage", `"${uri}" was not requested: it ${reason}`);
  return uri;
}

function meant(name: string, names: readonly string[]): string {
  const near = closest(name, names);
  return near === undefined ? "" : `; did you mean "${near}"?`;
}

function mistaken(message: string, uriTemplate: string): HostError {
  const words = variablesOf(uriTemplate).map(({ name, required }) => {
    const option = `--arg ${toShellWord(`${name}=`)}…`;
    return required ? option : `[${option}]`;
  });
  const next = ["fairlead read", toShellWord(uriTemplate), ...words].join(" ");
  return new HostError("arguments_invalid", message, { next });
}
