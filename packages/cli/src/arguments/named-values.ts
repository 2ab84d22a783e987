/** Values of the repeatable option `--arg name=value`, for prompts and URI templates. */

import { HostError } from "@fairlead/core/errors";
import { expandTemplate, parseTemplate, toShellWord } from "@fairlead/core/plain-text";
import { whyHarmful } from "@fairlead/core/request";
import type { Command } from "commander";
import { nameHint } from "../shell/verb.ts";

/** The name and the value of one `--arg`. */
export type NamedValue = readonly [name: string, value: string];

/** Adds the repeatable option `--arg` to a command. */
export function defineArgOption(command: Command, help: string): void {
  const add = (word: string, before: readonly NamedValue[] = []): readonly NamedValue[] => [
    ...before,
    toNamedValue(word),
  ];
  command.option("--arg <name=value>", help, add);
}

function toNamedValue(word: string): NamedValue {
  const named = splitNamed(word);
  if (named) return named;
  throw new HostError("usage", `--arg takes name=value, not "${word}"`);
}

/** Splits `name=value`. Returns undefined if there is no name. */
export function splitNamed(word: string): NamedValue | undefined {
  const equals = word.indexOf("=");
  const name = word.slice(0, Math.max(0, equals));
  return name === "" || /\s/.test(name) ? undefined : [name, word.slice(equals + 1)];
}

interface TemplateVariable {
  readonly name: string;
  /** Whether the template has the variable as `{name}` or `{+name}`. Other operators, such as `?`, need no value. */
  readonly required: boolean;
}

/** Returns the variables of a URI template. Returns an empty list for text that is no template. */
export function variablesOf(uriTemplate: string): readonly TemplateVariable[] {
  const template = parseTemplate(uriTemplate);
  if (template.kind === "malformed") return [];
  const needed = template.pieces.flatMap((piece) =>
    piece.kind === "expression" && (piece.operator === "" || piece.operator === "+") ? piece.variables : [],
  );
  return template.variables.map((name) => ({ name, required: needed.some((variable) => variable.name === name) }));
}

/**
 * Expands the URI template. If a name is given several times, the variable's value is a list.
 * @throws HostError `arguments_invalid` or `usage`
 */
export function fillTemplate(uriTemplate: string, given: readonly NamedValue[]): string {
  const variables = variablesOf(uriTemplate);
  const names = variables.map(({ name }) => name);
  const values = new Map<string, readonly string[]>();
  for (const [name, value] of given) {
    if (!names.includes(name))
      throw mistaken(`${uriTemplate} has no variable "${name}"${nameHint(name, names)}`, uriTemplate);
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

function mistaken(message: string, uriTemplate: string): HostError {
  const words = variablesOf(uriTemplate).map(({ name, required }) => {
    const option = `--arg ${toShellWord(`${name}=`)}…`;
    return required ? option : `[${option}]`;
  });
  const next = ["fairlead read", toShellWord(uriTemplate), ...words].join(" ");
  return new HostError("arguments_invalid", message, { next });
}
