/** Finds the variables and secrets that an entry mentions, and what the variables stand for. */

import type { Node } from "../files/jsonc.ts";
import type { VariableUse } from "./definition.ts";
import { entrySchema } from "./entry-schema.ts";
import type { Key, LeafKey } from "./key.ts";
import { childOf, entriesOf, itemsOf, textOf } from "./nodes.ts";
import { type Part, parseTemplate, valueOfVariable } from "./template.ts";
import type { Lookup, Variable } from "./variables.ts";

/** A text of an entry in which variables are expanded. */
export interface ExpandedText {
  /** For example `env.TOKEN`. */
  readonly where: string;
  readonly key: LeafKey;
  readonly node: Node;
  readonly text: string;
}

export type Mistake = { readonly text: ExpandedText } & (
  | { readonly kind: "malformed"; readonly reason: string }
  | { readonly kind: "unset"; readonly variable: string }
  /** A command or folder is shown, approved and logged: it cannot hold a secret. */
  | { readonly kind: "secret-in-path"; readonly secret: string }
);

export interface Mentions {
  readonly texts: readonly ExpandedText[];
  readonly variables: readonly VariableUse[];
  readonly values: ReadonlyMap<string, string>;
  readonly secrets: readonly string[];
  readonly mistakes: readonly Mistake[];
}

/** Without a lookup (an untrusted workspace) nothing is looked up and nothing is missed. */
export function findMentions(entry: Node, lookup: Lookup | undefined): Mentions {
  const texts = expandedTexts(entry, entrySchema, "");
  const variables = new Map<string, VariableUse>();
  const values = new Map<string, string>();
  const secrets = new Set<string>();
  const mistakes: Mistake[] = [];

  function see(part: Part, text: ExpandedText): Mistake | undefined {
    if (part.kind === "text") return undefined;
    if (part.kind === "secret") {
      secrets.add(part.name);
      const isPath = text.where === "command" || text.where === "cwd";
      return isPath ? { kind: "secret-in-path", secret: part.name, text } : undefined;
    }
    const found = lookup?.(part.name);
    if (found !== undefined) values.set(part.name, found.value);
    const value = valueOfVariable(part, values);
    const from = lookup === undefined ? "not-looked-up" : originOf(value, found);
    // Used once with a default and once without, it is as good as the worse of the two.
    if (variables.get(part.name)?.from !== "unset") variables.set(part.name, { name: part.name, from });
    return from === "unset" ? { kind: "unset", variable: part.name, text } : undefined;
  }

  for (const text of texts) {
    const template = parseTemplate(text.text);
    if (template.kind === "malformed") mistakes.push({ kind: "malformed", reason: template.reason, text });
    else {
      const found = template.parts.flatMap((part) => see(part, text) ?? []);
      // Mentioned twice in one text, it is one mistake.
      mistakes.push(...new Map(found.map((mistake) => [subjectOf(mistake), mistake])).values());
    }
  }
  return { texts, variables: [...variables.values()], values, secrets: [...secrets], mistakes };
}

function subjectOf(mistake: Mistake): string {
  switch (mistake.kind) {
    case "unset":
      return mistake.variable;
    case "secret-in-path":
      return `secret:${mistake.secret}`;
    case "malformed":
      return mistake.reason;
  }
}

function originOf(value: string | undefined, found: Variable | undefined): VariableUse["from"] {
  if (value === undefined) return "unset";
  return value === found?.value ? found.from : "default";
}

function expandedTexts(node: Node, key: Key, where: string): readonly ExpandedText[] {
  if (key.type === "object") {
    return Object.entries(key.properties).flatMap(([name, inner]) => {
      const child = childOf(node, name);
      return child === undefined ? [] : expandedTexts(child, inner, where === "" ? name : `${where}.${name}`);
    });
  }
  if (key.type === "named" || !key.expanded) return [];
  const text = textOf(node);
  if (text !== undefined) return [{ where, key, node, text }];
  const items = itemsOf(node).flatMap((item, index) => ({ where: `${where}[${index}]`, node: item }));
  const values = [...entriesOf(node).values()].map(({ name, value }) => ({ where: `${where}.${name}`, node: value }));
  return [...items, ...values].flatMap((inner) => {
    const innerText = textOf(inner.node);
    return innerText === undefined ? [] : [{ ...inner, key, text: innerText }];
  });
}
