/** Describes a rule in one sentence for the user: its decision, and where it is written. Pure. */

import { isAcrossRule, isUnsavedRule } from "./built-in-rules.ts";
import type { DecisionOutcome, PolicyRule } from "./rule.ts";

const verbs: Readonly<Record<DecisionOutcome, string>> = { allow: "allows", ask_user: "asks about", deny: "denies" };

/**
 * Describes a rule, for example `a rule in /home/ada/.gemini/policies/mine.toml:12 denies it`. For a file that Fairlead
 * could not read, says what is wrong with the file. Names and messages are not escaped.
 */
export function ruleText(rule: PolicyRule): string {
  const { origin, decision, denyMessage, isDoubt } = rule;
  if (isDoubt === true) return `${positionOf(origin)}: ${denyMessage}`;
  const isSaid = denyMessage !== undefined && (decision === "deny" || isUnsavedRule(rule) || isAcrossRule(rule));
  const said = isSaid ? `: ${denyMessage}` : "";
  return `${source(rule)}${inFile(origin)} ${verbs[decision]} it${said}`;
}

/**
 * The next step if the rule stands for a file that Fairlead could not read: no other rule has an effect until the file
 * is corrected.
 */
export function correction({ isDoubt, origin }: PolicyRule): string | undefined {
  return isDoubt === true ? `correct ${origin.file}` : undefined;
}

function inFile(origin: PolicyRule["origin"]): string {
  return origin.file === undefined ? "" : ` in ${positionOf(origin)}`;
}

function positionOf({ file = "", line }: PolicyRule["origin"]): string {
  return `${file}${line === undefined ? "" : `:${line}`}`;
}

function source({ origin, server, client }: PolicyRule): string {
  const { name } = origin;
  switch (origin.source) {
    case "policy_file":
      return "a rule";
    case "settings":
    case "permissions":
      return name ?? "a setting";
    case "trust":
      return name === undefined || name === "trust" ? `"trust": true of "${server?.text ?? ""}"` : name;
    case "approval":
      return `your saved approval${client === undefined ? "" : ` for client ${client.text}`}`;
    case "flag":
      return name ?? "a flag";
    case "answer":
      return "your approval for this conversation";
    case "built_in":
      return builtIns.get(name ?? "") ?? "a built-in rule";
  }
}

const builtIns: ReadonlyMap<string, string> = new Map([
  ["tools", "the default for tools"],
  ["resources", "the default for resources"],
  ["view", "the view of a tool is part of the tool"],
  ["prompts", "the default for prompts"],
  ["sampling", "the default for sampling"],
  ["skills", "the default for skills"],
  ["hosts", "the default for hosts"],
  ["dynamic", "its files are dynamic, so Fairlead asks each time"],
  ["across", "the rule for reads across servers"],
  ["plan", "plan mode"],
  ["changed", "the rule for changed definitions"],
  ["unsaved", "the rule for definitions that may have changed"],
  ["yolo", "yolo mode"],
  ["headless", "the rule for runs without a terminal"],
  ["noApprover", "the rule for requests that another person must confirm"],
  ["typed", "the default for your own requests"],
]);
