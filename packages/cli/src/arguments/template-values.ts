/** A URI from a template and the values that were typed for its variables; mistakes are said before anything is sent. Pure. */

import { HostError } from "@fairlead/core/errors";
import { whyHarmful } from "@fairlead/core/resources/references/harmless-uri";
import { expandTemplate } from "@fairlead/core/resources/templates/expand-template";
import { parseTemplate } from "@fairlead/core/resources/templates/uri-template";
import { closest } from "@fairlead/core/text/closest";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { NamedValue } from "./named-values.ts";

export interface TemplateVariable {
  readonly name: string;
  /** Without it there would be a hole in the URI. */
  readonly required: boolean;
}

/** None for a text that is no template. */
export function variablesOf(uriTemplate: string): readonly TemplateVariable[] {
  const template = parseTemplate(uriTemplate);
  if (template.kind === "malformed") return [];
  const needed = template.pieces.flatMap((piece) =>
    piece.kind === "expression" && (piece.operator === "" || piece.operator === "+") ? piece.variables : [],
  );
  return template.variables.map((name) => ({ name, required: needed.some((variable) => variable.name === name) }));
}

/** A name that is given more than once is a list. */
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
  if (reason !== undefined) throw new HostError("usage", `"${uri}" is not asked for: it ${reason}`);
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
