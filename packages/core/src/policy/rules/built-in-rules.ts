/** The rules that are built into Fairlead: the default rules, and rules for approval modes and changed definitions. */

import type { Decision, DecisionOutcome, PolicyRule, RequestKind } from "./rule.ts";

function rule(name: string, decision: DecisionOutcome, kind?: RequestKind): PolicyRule {
  const origin = { source: "built_in", name } as const;
  return { tier: "default", decision, priority: 0, origin, kind };
}

/** Whether this is the built-in rule for changed definitions, or the one for definitions that may have changed. */
export function isChangedRule(one: PolicyRule): boolean {
  return one === builtIn.changed || one === builtIn.changedUnseen || isUnsavedRule(one);
}

const unsavedName = "unsaved";

/**
 * The rule for a definition that may have changed. Fairlead cannot tell, because accepted definitions cannot be saved.
 * `reason` says why they cannot be saved.
 */
export function unsavedRule(reason: string, decision: "ask_user" | "deny"): PolicyRule {
  return { ...rule(unsavedName, decision), denyMessage: reason };
}

/** Whether `unsavedRule` created the rule. */
export function isUnsavedRule({ origin }: PolicyRule): boolean {
  return origin.source === "built_in" && origin.name === unsavedName;
}

const acrossName = "across";

/** Names both servers of a read that a skill of another server may have caused. */
export function acrossReason(actingOn: readonly string[], server: string): string {
  const names = actingOn.map((name) => `"${name}"`).join(", ");
  return `the model acts on a skill of ${names}, and this reads from "${server}"`;
}

/** The rule for a read from one server while the model acts on a skill of another server. `reason` names the servers. */
export function acrossRule(reason: string, decision: "ask_user" | "deny"): PolicyRule {
  return { ...rule(acrossName, decision), denyMessage: reason };
}

/** Whether `acrossRule` created the rule. */
export function isAcrossRule({ origin }: PolicyRule): boolean {
  return origin.source === "built_in" && origin.name === acrossName;
}

/** The group of which a member must confirm the request, also if another rule asks in place of the one that names it. */
export function approverOf({ rule: decided, over }: Pick<Decision, "rule" | "over">): string | undefined {
  return (decided.approver ?? over?.approver)?.text;
}

/** The default rules for models' requests. If such a rule asks, a request that the user typed still runs at once. */
export const defaultRules: Readonly<Record<RequestKind, PolicyRule>> = {
  tool: rule("tools", "ask_user", "tool"),
  resource: rule("resources", "ask_user", "resource"),
  prompt: rule("prompts", "allow", "prompt"),
  sampling: rule("sampling", "ask_user", "sampling"),
  skill: rule("skills", "ask_user", "skill"),
  host: rule("hosts", "ask_user", "host"),
};

/** The rules for approval modes, changed definitions and a missing terminal. */
export const builtIn: Readonly<
  Record<"plan" | "planAsks" | "changed" | "changedUnseen" | "dynamic" | "yolo" | "headless" | "noApprover", PolicyRule>
> = {
  /** In plan mode, denies every tool that is not known to be read-only. */
  plan: rule("plan", "deny"),
  /** In plan mode, asks about a read-only tool. */
  planAsks: rule("plan", "ask_user"),
  changed: rule("changed", "ask_user"),
  /** Denies a tool with a changed definition if there is no terminal to ask on. */
  changedUnseen: { ...rule("changed", "deny"), denyMessage: "there is no terminal to ask on" },
  /** Asks about a skill with dynamic files each time, whatever allows it. */
  dynamic: rule("dynamic", "ask_user", "skill"),
  yolo: rule("yolo", "allow"),
  /** If there is no terminal to ask on, denies a request that needs confirmation. */
  headless: rule("headless", "deny"),
  /** Denies a request that another person must confirm, where there is only one. */
  noApprover: {
    ...rule("noApprover", "deny"),
    denyMessage: "another person must confirm it (approver), and only the gateway of a team can ask one",
  },
};
