/** Formats policy rules as text and as JSON. */

import {
  type DecisionOutcome,
  everyResource,
  type PolicyRule,
  type RequestKind,
  ruleText,
} from "@fairlead/core/policy";
import type { Difference } from "@fairlead/core/server";
import { joinSafe, type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Style } from "../output.ts";

/** Returns the decision as a coloured word. `ask_user` is shown as `ask`. */
export function decisionWord(decision: DecisionOutcome, style: Style): SafeText {
  switch (decision) {
    case "allow":
      return style.green(safe`allow`);
    case "ask_user":
      return style.yellow(safe`ask`);
    case "deny":
      return style.red(safe`deny`);
  }
}

const plurals: Readonly<Record<RequestKind, SafeText>> = {
  tool: safe`tools`,
  resource: safe`resources`,
  prompt: safe`prompts`,
  sampling: safe`sampling`,
  skill: safe`skills`,
  host: safe`hosts`,
};

/**
 * Returns what the rule applies to, such as `github.delete_*`, `everything of github` or `resources of any server`,
 * followed by the rule's conditions.
 */
export function subjectText({ server, tool, kind, ...conditions }: PolicyRule): SafeText {
  const whose = server === undefined || server.text === "*" ? safe`any server` : toVisibleLine(server.text);
  const what = kind === undefined ? safe`everything` : plurals[kind];
  const pair = safe`${toVisibleLine(server?.text ?? "*")}.${toVisibleLine(tool?.text ?? "*")}`;
  const isOther = kind !== undefined && kind !== "tool";
  const isEvery = tool === undefined || (isOther && (tool.text === "*" || tool.text === everyResource));
  const subject = isEvery ? safe`${what} of ${whose}` : isOther ? safe`${what} ${pair}` : pair;
  return joinSafe([subject, ...conditionTexts(conditions)], safe`, `);
}

type Conditions = Pick<
  PolicyRule,
  "client" | "user" | "group" | "approver" | "argsPattern" | "annotations" | "modes" | "interactive"
>;

function conditionTexts(conditions: Conditions): readonly SafeText[] {
  const { client, user, group, approver, argsPattern, annotations, modes, interactive } = conditions;
  const senders = Object.entries({ client, user, group });
  return [
    ...senders.flatMap(([what, name]) => (name ? [toVisibleLine(`${what} ${name.text}`)] : [])),
    ...(approver === undefined ? [] : [safe`confirmed by group ${toVisibleLine(approver.text)}`]),
    ...(argsPattern === undefined ? [] : [safe`arguments match ${toVisibleLine(argsPattern.text)}`]),
    ...[...(annotations ?? [])].map(([name, value]) => toVisibleLine(`${name} is ${JSON.stringify(value)}`)),
    ...(modes === undefined ? [] : [safe`mode ${toVisibleLine(modes.join(" or "))}`]),
    ...(interactive === undefined ? [] : [interactive ? safe`in a terminal` : safe`no terminal to ask on`]),
  ];
}

/** Returns the reason for a decision, such as `a rule in FILE:12 denies it`. */
export function reasonText(rule: PolicyRule): SafeText {
  return toVisibleLine(ruleText(rule));
}

/** Returns where the rule comes from, such as `FILE:12`. Empty for a built-in rule. */
export function originText({ origin: { source, file, line, name } }: PolicyRule): SafeText {
  const position = file === undefined ? "" : `${file}${line === undefined ? "" : `:${line}`}`;
  const who = source === "policy_file" || source === "built_in" ? "" : (name ?? source);
  return toVisibleLine([who, position].filter((part) => part !== "").join(" in "));
}

/** Returns the rule as JSON. `text` is the rule in words. */
export function ruleDocument(rule: PolicyRule): object {
  const { tier, decision, priority, server, tool, kind, argsPattern, annotations, modes, interactive } = rule;
  const { client, user, group, approver } = rule;
  return {
    decision,
    tier,
    priority,
    server: server?.text,
    tool: tool?.text,
    kind,
    client: client?.text,
    user: user?.text,
    group: group?.text,
    approver: approver?.text,
    argsPattern: argsPattern?.text,
    annotations: annotations && Object.fromEntries(annotations),
    modes,
    interactive,
    denyMessage: rule.denyMessage,
    origin: rule.origin,
    text: ruleText(rule),
  };
}

// Formats each changed member with its old (`-`) and new (`+`) value. Values are never shortened, because the user
// accepts the whole value.

/** Returns up to three lines for each difference: the member, its old value and its new value. */
export function differenceLines(differences: readonly Difference[], indent: SafeText): readonly SafeText[] {
  return differences.flatMap(({ member, before, after }) => [
    safe`${indent}${toVisibleLine(member)}`,
    ...(before === undefined ? [] : [safe`${indent}  - ${toVisibleLine(before)}`]),
    ...(after === undefined ? [] : [safe`${indent}  + ${toVisibleLine(after)}`]),
  ]);
}
