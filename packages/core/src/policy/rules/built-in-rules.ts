/** The rules that nobody has to write: what holds where no other rule speaks, and what circumstances make of the others. */

import type { DecisionOutcome, PolicyRule, RequestKind } from "./rule.ts";

function rule(name: string, decision: DecisionOutcome, kind?: RequestKind): PolicyRule {
  const origin = { source: "built_in", name } as const;
  return { tier: "default", decision, priority: 0, origin, ...(kind === undefined ? {} : { kind }) };
}

/** Whoever is there to be asked. */
export function isChangedRule(one: PolicyRule): boolean {
  return one === builtIn.changed || one === builtIn.changedUnseen;
}

/** Of what a model wants. What a person types themselves passes where these would ask. */
export const defaultRules: Readonly<Record<RequestKind, PolicyRule>> = {
  tool: rule("tools", "ask_user", "tool"),
  resource: rule("resources", "ask_user", "resource"),
  prompt: rule("prompts", "allow", "prompt"),
  sampling: rule("sampling", "ask_user", "sampling"),
};

interface BuiltIn {
  /** A tool that is not known to be read-only, in plan mode. */
  readonly plan: PolicyRule;
  /** One that is. */
  readonly planAsks: PolicyRule;
  readonly changed: PolicyRule;
  /** The same where nobody can look at it. */
  readonly changedUnseen: PolicyRule;
  readonly yolo: PolicyRule;
  /** Nobody is there to be asked. */
  readonly headless: PolicyRule;
}

export const builtIn: BuiltIn = {
  plan: rule("plan", "deny"),
  planAsks: rule("plan", "ask_user"),
  changed: rule("changed", "ask_user"),
  changedUnseen: { ...rule("changed", "deny"), denyMessage: "nobody is there to look at it" },
  yolo: rule("yolo", "allow"),
  headless: rule("headless", "deny"),
};
