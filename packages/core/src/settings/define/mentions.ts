/** Finds the variables and secrets that an entry uses, with the values of the variables. */

import type { Node } from "../../files/json/jsonc.ts";
import { limits } from "../../limits.ts";
import { childNode, entriesOf, itemNodes, stringNode } from "../read/nodes.ts";
import type { Lookup, VariableValue } from "../read/variables.ts";
import { entrySchema } from "../schema/entry-schema.ts";
import type { LeafKey, SettingsKey } from "../schema/key.ts";
import type { VariableUse } from "./definition.ts";
import { commandPrefix, parseVariables, type TemplatePart, valueOfVariable } from "./expand.ts";

/** A text in an entry that may contain variables or secrets. */
export interface ExpandedText {
  /** The path of the text in the entry, such as `env.TOKEN`. */
  readonly where: string;
  readonly key: LeafKey;
  readonly node: Node;
  readonly text: string;
}

/** Why a variable or secret in a text cannot be used. */
export type Mistake = { readonly text: ExpandedText } & (
  | { readonly kind: "malformed"; readonly reason: string }
  | { readonly kind: "unset"; readonly variable: string }
  /**
   * An entry of the user or the system uses a variable from the workspace's `.env` file outside `env` and `headers`.
   * The workspace could then choose the program or the URL.
   */
  | { readonly kind: "confined"; readonly variable: string }
  /** A secret is not allowed in a command or folder, because these are shown, approved and logged. */
  | { readonly kind: "secret-in-path"; readonly secret: string }
  /** A file of the workspace must not choose a program that runs outside of the server. */
  | { readonly kind: "command-in-workspace"; readonly line: string }
);

/** The variables and secrets of one entry. `values` holds the values that were found. */
export interface Mentions {
  readonly texts: readonly ExpandedText[];
  readonly variables: readonly VariableUse[];
  readonly values: ReadonlyMap<string, string>;
  readonly secrets: readonly string[];
  /** The lines of `${command:LINE}`. */
  readonly commands: readonly string[];
  readonly mistakes: readonly Mistake[];
}

/**
 * After this many mistakes, Fairlead reads no further texts of the entry, because a hostile entry can have very many.
 */
const mistakesKept = 100;

/**
 * Finds the variables and secrets. If `lookup` is undefined (untrusted workspace), Fairlead looks up no variable and
 * reports none as unset.
 */
export function findVariables(
  entry: Node,
  lookup: Lookup | undefined,
  {
    schema = entrySchema,
    where = "",
    isWorkspace = false,
  }: {
    readonly schema?: SettingsKey;
    readonly where?: string;
    /** Whether the entry is in a file of the workspace, which must not run commands. */
    readonly isWorkspace?: boolean;
  } = {},
): Mentions {
  const texts = expandedTexts(entry, schema, where);
  const variables = new Map<string, VariableUse>();
  const values = new Map<string, string>();
  const secrets = new Set<string>();
  const commands = new Set<string>();
  const mistakes: Mistake[] = [];

  function see(part: TemplatePart, text: ExpandedText): Mistake | undefined {
    if (part.kind === "text") return undefined;
    if (part.kind === "secret" || part.kind === "command") {
      const name = part.kind === "secret" ? part.name : `${commandPrefix}${part.line}`;
      if (part.kind === "secret") secrets.add(part.name);
      else if (isWorkspace) return { kind: "command-in-workspace", line: part.line, text };
      else commands.add(part.line);
      const isPath = /^(?:command|cwd|machineAuth[.](?:privateKey|assertion)File)$/.test(text.where);
      return isPath ? { kind: "secret-in-path", secret: name, text } : undefined;
    }
    const found = lookup?.(part.name);
    if (found !== undefined) values.set(part.name, found.value);
    const value = valueOfVariable(part, values);
    const from = lookup === undefined ? "not-looked-up" : originOf(value, found);
    // If an entry uses an unset variable both with and without a default, the variable counts as unset.
    if (variables.get(part.name)?.from !== "unset") variables.set(part.name, { name: part.name, from });
    if (found?.isConfined === true && !/^(?:env|headers)[.]/.test(text.where))
      return { kind: "confined", variable: part.name, text };
    return from === "unset" ? { kind: "unset", variable: part.name, text } : undefined;
  }

  for (const text of texts) {
    if (mistakes.length >= mistakesKept) break;
    const template = parseVariables(text.text);
    const found: readonly Mistake[] =
      template.kind === "malformed"
        ? [{ kind: "malformed", reason: template.reason, text }]
        : template.parts.flatMap((part) => see(part, text) ?? []);
    // If a text has the same mistake twice, Fairlead reports it once.
    const different = new Map(found.map((mistake) => [subjectOf(mistake), mistake]));
    mistakes.push(...[...different.values()].slice(0, mistakesKept));
  }
  return {
    texts,
    variables: [...variables.values()],
    values,
    secrets: [...secrets],
    commands: [...commands],
    mistakes,
  };
}

function subjectOf(mistake: Mistake): string {
  switch (mistake.kind) {
    case "unset":
    case "confined":
      return mistake.variable;
    case "secret-in-path":
      return `secret:${mistake.secret}`;
    case "command-in-workspace":
      return `command:${mistake.line}`;
    case "malformed":
      return mistake.reason;
  }
}

function originOf(value: string | undefined, found: VariableValue | undefined): VariableUse["from"] {
  if (value === undefined) return "unset";
  return value === found?.value ? found.from : "default";
}

function expandedTexts(node: Node, key: SettingsKey, where: string): readonly ExpandedText[] {
  if (key.type === "object") {
    return Object.entries(key.properties).flatMap(([name, inner]) => {
      const child = childNode(node, name);
      return child === undefined ? [] : expandedTexts(child, inner, where === "" ? name : `${where}.${name}`);
    });
  }
  if (key.type === "named" || !key.expanded) return [];
  const text = stringNode(node);
  // Skips texts that are too long, because validation has refused them.
  if (text !== undefined) return text.length > limits.settingsText ? [] : [{ where, key, node, text }];
  const items = itemNodes(node).map((item, index) => ({ where: `${where}[${index}]`, node: item }));
  const values = [...entriesOf(node).values()].map(({ name, value }) => ({ where: `${where}.${name}`, node: value }));
  return [...items, ...values]
    .filter((inner) => stringNode(inner.node) !== undefined)
    .flatMap((inner) => expandedTexts(inner.node, key, inner.where));
}
